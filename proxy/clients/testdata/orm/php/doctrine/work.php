<?php
// Creates, reads and changes; each of its writes is one shard's.

use Doctrine\DBAL\Exception\UniqueConstraintViolationException;
use Doctrine\DBAL\LockMode;
use Doctrine\ORM\EntityManager;
use Entity\{Order, User};
use Shop\Undone;
use function Shop\{orderId, orderLine, orders, say, user, userId, userLine};

/** ordersOf gives the three orders of user i, who is $user. */
function ordersOf(int $i, User $user): array
{
    return array_map(fn ($o) => Order::of(['user' => $user] + array_diff_key($o, ['user_id' => 0])), orders($i));
}

function rows(EntityManager $em): void
{
    say(sprintf('rows: %d users, %d orders', $em->getRepository(User::class)->count([]), $em->getRepository(Order::class)->count([])));
}

function insert(EntityManager $em): void
{
    for ($i = 1; $i <= 10; $i++) {
        $em->wrapInTransaction(function () use ($em, $i) {
            $user = User::of(user($i));
            $em->persist($user);
            foreach (ordersOf($i, $user) as $o) {
                $em->persist($o);
                $em->flush();
            }
        });
    }
    for ($i = 11; $i <= 20; $i++) {
        $user = User::of(user($i));
        array_map([$user->orders, 'add'], ordersOf($i, $user));
        $em->persist($user);
        $em->flush();
    }
    $em->clear();
}

function read(EntityManager $em): void
{
    $users = $em->getRepository(User::class);
    $orders = $em->getRepository(Order::class);
    say('user:', userLine($em->find(User::class, userId(5))));
    say('missing:', $users->find(999) === null ? 'none' : 'found');
    $o = $orders->find(orderId(7, 2));
    say('order:', orderLine($o, $o->user->id));
    foreach ($users->findBy(['id' => [userId(14), userId(3), 999, userId(8)]], ['id' => 'ASC']) as $u) {
        say('one of several:', userLine($u));
    }
    for ($page = 0; $page < 4; $page++) {
        $found = $users->findBy(['country' => 'FR'], ['name' => 'ASC', 'id' => 'ASC'], 3, 3 * $page);
        say("page $page of FR:", implode('; ', array_map(fn ($u) => "$u->id $u->name", $found)));
    }
    foreach ($orders->findBy([], ['created' => 'DESC', 'id' => 'DESC'], 3, 1) as $o) {
        say('new order:', orderLine($o, $o->user->id));
    }
    $rich = $em->createQuery("SELECT u FROM Entity\User u WHERE u.balance > :b AND u.country <> 'DE' ORDER BY u.balance DESC");
    foreach ($rich->setParameter('b', 100)->setMaxResults(3)->getResult() as $u) {
        say('rich:', userLine($u));
    }
    say('like a:', implode('; ', $em->createQuery("SELECT u.name FROM Entity\User u WHERE u.name LIKE 'a%' ORDER BY u.id")->getSingleColumnResult()));
    say('statuses:', ...$em->createQuery('SELECT DISTINCT o.status FROM Entity\Order o ORDER BY o.status')->getSingleColumnResult());
}

function aggregate(EntityManager $em): void
{
    say('in PL:', $em->getRepository(User::class)->count(['country' => 'PL']));
    say(vsprintf('balances: %.2f to %.2f', array_values($em->createQuery('SELECT MIN(u.balance), MAX(u.balance) FROM Entity\User u')->getSingleResult())));
    $figures = 'SELECT u.country, COUNT(u), SUM(u.balance), AVG(u.balance) FROM Entity\User u GROUP BY u.country ORDER BY u.country';
    foreach ($em->createQuery($figures)->getResult() as $c) {
        say(vsprintf('country: %s %d %.2f %.4f', array_values($c)));
    }
}

function join_(EntityManager $em): void
{
    $one = $em->createQuery('SELECT o, u FROM Entity\Order o JOIN o.user u WHERE u.id = :id ORDER BY o.id');
    foreach ($one->setParameter('id', userId(4))->getResult() as $o) {
        say('order of one:', $o->user->name, orderLine($o, $o->user->id));
    }
    foreach ($em->createQuery('SELECT o, u FROM Entity\Order o JOIN o.user u ORDER BY u.name, o.id')->getResult() as $o) {
        say('order of all:', $o->user->name, $o->id, $o->status);
    }
    $spent = 'SELECT u.country, COUNT(o), SUM(o.amount) FROM Entity\User u JOIN u.orders o GROUP BY u.country ORDER BY u.country';
    foreach ($em->createQuery($spent)->getResult() as $c) {
        say(vsprintf('spent in: %s %d %.2f', array_values($c)));
    }
    $most = 'SELECT u.name, SUM(o.amount) AS spent FROM Entity\User u LEFT JOIN u.orders o GROUP BY u.id, u.name ORDER BY spent DESC, u.id';
    foreach ($em->createQuery($most)->setMaxResults(3)->getResult() as $c) {
        say(vsprintf('most spent: %s %.2f', array_values($c)));
    }
    $em->clear();
    foreach ($em->getRepository(User::class)->findBy(['country' => 'DE'], ['id' => 'ASC']) as $u) {
        say('loaded:', $u->name, ...$u->orders->map(fn ($o) => $o->id));
    }
    $em->clear();
}

function change(EntityManager $em): void
{
    $em->wrapInTransaction(function () use ($em) {
        $u = $em->find(User::class, userId(6), LockMode::PESSIMISTIC_WRITE);
        $u->balance += 100;
        $u->name = 'Maria II';
    });
    $em->createQuery('UPDATE Entity\User u SET u.balance = u.balance + 1 WHERE u.id = :id')->execute(['id' => userId(6)]);
    $u = $em->find(User::class, userId(6));
    $em->refresh($u);
    say('changed:', userLine($u));
}

function undo(EntityManager $em): void
{
    $count = fn () => $em->getRepository(User::class)->count(['id' => userId(21)]);
    $em->beginTransaction();
    $em->persist(User::of(user(21)));
    $em->flush();
    say('inside:', $count());
    $em->rollback();
    $em->clear();
    say('undone:', $count());
}

function duplicate(EntityManager $em): void
{
    $em->clear();
    $em->persist(User::of(user(1)));
    try {
        $em->flush();
    } catch (UniqueConstraintViolationException $e) {
        say('duplicate: refused', $e->getCode());
    }
}

function work(EntityManager $em): void
{
    insert($em);
    rows($em);
    read($em);
    aggregate($em);
    join_($em);
    change($em);
    undo($em);
    duplicate($em);
    rows($em);
}
