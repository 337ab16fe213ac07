<?php

use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Tools\SchemaTool;
use Entity\Member;
use function Shop\say;

function memberLine(Member $m): string
{
    return "$m->id $m->email $m->name $m->visits";
}

/** members makes a table in which each e-mail address is there once. */
function members(EntityManager $em): void
{
    (new SchemaTool($em))->createSchema([$em->getClassMetadata(Member::class)]);
    $db = $em->getConnection();
    $members = $em->getRepository(Member::class);
    $one = fn (string $email) => $members->findOneBy(['email' => $email]);
    // An error closes an entity manager.
    $fails = function (string $what, callable $change) use ($em, $db) {
        $other = new EntityManager($db, $em->getConfiguration());
        refused($what, function () use ($change, $other) {
            $change($other);
            $other->flush();
        });
    };
    $made = [];
    foreach (Shop\MEMBERS as [$email, $name]) {
        $em->persist($made[] = Member::of(['email' => $email, 'name' => $name]));
        $em->flush();
    }
    say('made:', ...array_column($made, 'id'));
    $em->clear();
    say('by e-mail:', memberLine($one('bob@example.com')));
    say('in capitals:', memberLine($one('BOB@example.com')));
    say('missing:', $one('bob@example.org') ? 'found' : 'none');
    $fails('duplicate:', fn ($em) => $em->persist(Member::of(['email' => 'Ana@Example.com', 'name' => 'Anna'])));
    $fails('several:', function ($em) {
        $em->persist(Member::of(['email' => 'eve@example.com', 'name' => 'Eve']));
        $em->persist(Member::of(['email' => 'dan@example.com', 'name' => 'Daniel']));
    });
    say('members:', $members->count([]));
    $m = $one('bob@example.com');
    [$m->email, $m->name, $m->visits] = ['rob@example.com', 'Robert', 1];
    $em->flush();
    $em->clear();
    say('changed:', memberLine($one('rob@example.com')));
    $fails('taken:', function ($em) use ($m) {
        $em->find(Member::class, $m->id)->email = 'cem@example.com';
    });
    say('before:', $one('bob@example.com') ? 'found' : 'none');
    $em->persist(Member::of(['email' => 'bob@example.com', 'name' => 'Bobby']));
    $em->flush();
    $em->clear();
    $m = $one('bob@example.com');
    say('again:', $m->email, $m->name, $m->visits);
    // Doctrine has no word for it.
    $upsert = 'INSERT INTO members (email, name, visits) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name), visits = VALUES(visits)';
    $db->executeStatement($upsert, array_merge(...Shop\UPSERTED));
    $em->clear();
    foreach ($members->findBy([], ['email' => 'ASC']) as $m) {
        say('upserted:', $m->email, $m->name, $m->visits);
    }
    say('named:', $members->findOneBy(['name' => 'Eve'])->email);
    $db->beginTransaction();
    $one('cem@example.com')->email = 'zoe@example.com';
    $em->flush();
    say('inside:', $one('zoe@example.com')->email);
    $db->rollBack();
    $em->clear();
    say('undone:', $members->findOneBy(['name' => 'Cem'])->email);
    $raise = $em->createQuery('UPDATE Entity\Member m SET m.visits = m.visits + 1 WHERE m.email IN (:emails)');
    say('raised:', $raise->execute(['emails' => ['ana@example.com', 'eve@example.com']]));
    say('deleted:', $em->createQuery('DELETE FROM Entity\Member m WHERE m.email = :email')->execute(['email' => 'dan@example.com']));
    $sum = $em->createQuery('SELECT SUM(m.visits) FROM Entity\Member m')->getSingleScalarResult();
    say(sprintf('left: %d, %d', $members->count([]), $sum));
}
