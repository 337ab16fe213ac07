<?php

use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Tools\SchemaTool;
use Entity\Note;
use function Shop\say;

function noteLine(Note $n): string
{
    return "$n->id $n->owner $n->title";
}

/** ids makes a table by Doctrine's own definition, and leaves the ids to it. */
function ids(EntityManager $em): void
{
    (new SchemaTool($em))->createSchema([$em->getClassMetadata(Note::class)]);
    $notes = $em->getRepository(Note::class);
    $made = [];
    for ($i = 1; $i <= 4; $i++) {
        $em->persist($made[] = Note::of(['owner' => $i, 'title' => "note $i"]));
        $em->flush();
    }
    say('made:', ...array_column($made, 'id'));
    foreach (Shop\TITLES as $title) {
        $em->persist(Note::of(['owner' => 5, 'title' => $title]));
    }
    $em->flush();
    $em->clear();
    foreach ($notes->findBy(['owner' => 5], ['id' => 'ASC']) as $n) {
        say('together:', noteLine($n));
    }
    foreach ($notes->findBy([], ['id' => 'DESC'], 3, 1) as $n) {
        say('page:', noteLine($n));
    }
    // An entity is updated and removed in a transaction by its id alone.
    $one = ['id' => $made[1]->id, 'owner' => 2];
    $em->createQuery("UPDATE Entity\Note n SET n.title = 'changed' WHERE n.id = :id AND n.owner = :owner")->execute($one);
    say('changed:', noteLine($notes->find($one['id'])));
    $em->createQuery('DELETE FROM Entity\Note n WHERE n.id = :id AND n.owner = :owner')->execute(['id' => $made[0]->id, 'owner' => 1]);
    say('left:', $notes->count([]));
    $em->persist($last = Note::of(['owner' => 6, 'title' => 'last']));
    $em->flush();
    say('next:', $last->id);
}
