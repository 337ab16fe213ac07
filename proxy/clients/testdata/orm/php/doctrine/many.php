<?php
// Writes to several shards at once.

use Doctrine\DBAL\LockMode;
use Doctrine\ORM\EntityManager;
use Entity\{Order, User};
use function Shop\{orderId, orderLine, say, user, userId, userLine};

/** changeOrder changes one order and deletes another, each by its own id, which is not the key of the shards. */
function changeOrder(EntityManager $em): void
{
    $o = $em->find(Order::class, orderId(9, 1));
    $o->status = 'returned';
    $em->flush();
    $em->refresh($o);
    say('changed:', orderLine($o, $o->user->id));
    $em->remove($em->find(Order::class, orderId(10, 3)));
    $em->flush();
}

/** transfer moves 10 from one user to another. */
function transfer(EntityManager $em): void
{
    foreach ([11 => -10, 13 => 10] as $i => $amount) {
        $em->find(User::class, userId($i), LockMode::PESSIMISTIC_WRITE)->balance += $amount;
        $em->flush();
    }
}

function pair(EntityManager $em, string $what): void
{
    $em->clear();
    foreach ($em->getRepository(User::class)->findBy(['id' => [userId(11), userId(13)]], ['id' => 'ASC']) as $u) {
        say($what, userLine($u));
    }
    $em->clear();
}

function many(EntityManager $em): void
{
    $em->remove($em->find(User::class, userId(4)));
    $em->flush();
    rows($em);
    for ($i = 21; $i <= 26; $i++) {
        $user = User::of(user($i));
        array_map([$user->orders, 'add'], ordersOf($i, $user));
        $em->persist($user);
    }
    $em->flush();
    rows($em);
    $raised = $em->createQuery("UPDATE Entity\User u SET u.balance = u.balance + 5 WHERE u.country = 'DE'")->execute();
    $sum = "SELECT SUM(u.balance) FROM Entity\User u";
    say(sprintf('raised: %d, %.2f', $raised, $em->createQuery("$sum WHERE u.country = 'DE'")->getSingleScalarResult()));
    $em->clear();
    changeOrder($em);
    rows($em);
    say('new ones deleted:', $em->createQuery("DELETE FROM Entity\Order o WHERE o.status = 'new'")->execute());
    rows($em);
    $em->clear();
    $em->wrapInTransaction(fn () => transfer($em));
    pair($em, 'transferred:');
    $em->beginTransaction();
    transfer($em);
    $em->rollback();
    pair($em, 'not again:');
    say(sprintf('in all: %.2f', $em->createQuery($sum)->getSingleScalarResult()));
}
