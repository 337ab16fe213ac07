<?php

use Doctrine\DBAL\Exception\ConstraintViolationException;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Tools\SchemaTool;
use Entity\{Basket, Item};
use function Shop\say;

/** refused tells by which error a change is refused. */
function refused(string $what, callable $change): void
{
    try {
        $change();
    } catch (ConstraintViolationException $e) {
        say($what, 'refused', $e->getCode());
    }
}

/** related makes tables of which one refers to the other. */
function related(EntityManager $em): void
{
    (new SchemaTool($em))->createSchema([$em->getClassMetadata(Basket::class), $em->getClassMetadata(Item::class)]);
    $made = [];
    for ($i = 1; $i <= 4; $i++) {
        $made[] = $basket = Basket::of(['title' => "basket $i"]);
        foreach (Shop\FRUIT as $name) {
            $basket->items->add(Item::of(['basket' => $basket, 'name' => $name]));
        }
        $em->persist($basket);
        $em->flush();
    }
    say('baskets:', ...array_column($made, 'id'));
    $em->clear();
    foreach ($em->createQuery('SELECT b, i FROM Entity\Basket b JOIN b.items i ORDER BY b.id, i.id')->getResult() as $b) {
        say("loaded: $b->title:", implode(', ', $b->items->map(fn ($i) => "$i->id $i->name")->toArray()));
    }
    $em->clear();
    $i = $em->find(Item::class, 6);
    say("item: $i->name of {$i->basket->title}");
    $pears = $em->createQuery("SELECT i, b FROM Entity\Item i JOIN i.basket b WHERE i.name = 'pear' ORDER BY b.title DESC")->setMaxResults(3);
    say('pears:', implode('; ', array_map(fn ($i) => $i->basket->title, $pears->getResult())));
    // The error closes the entity manager.
    $other = new EntityManager($em->getConnection(), $em->getConfiguration());
    $other->persist(Item::of(['basket' => $other->getReference(Basket::class, 99), 'name' => 'plum']));
    refused('orphan:', fn () => $other->flush());
    refused('parent:', fn () => $em->createQuery('DELETE FROM Entity\Basket b WHERE b.id = 1')->execute());
    $em->wrapInTransaction(function () use ($em, $made) {
        $em->createQuery('DELETE FROM Entity\Item i WHERE i.basket = :b')->execute(['b' => $made[1]->id]);
        $em->remove($em->find(Basket::class, $made[1]->id));
    });
    say(sprintf('left: %d baskets, %d items', $em->getRepository(Basket::class)->count([]), $em->getRepository(Item::class)->count([])));
}
