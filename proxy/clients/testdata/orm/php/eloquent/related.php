<?php

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\QueryException;
use function Shop\say;

/** refused tells by which error a change is refused. */
function refused(string $what, callable $change): void
{
    try {
        $change();
    } catch (QueryException $e) {
        say($what, 'refused', $e->errorInfo[1]);
    }
}

/** related makes tables of which one refers to the other. */
function related(): void
{
    migrate('2024_01_02_000000_create_baskets_table');
    $made = [];
    for ($i = 1; $i <= 4; $i++) {
        DB::transaction(function () use (&$made, $i) {
            $made[] = $b = Basket::create(['title' => "basket $i"]);
            $b->items()->createMany(array_map(fn ($name) => ['name' => $name], Shop\FRUIT));
        });
    }
    say('baskets:', ...array_column($made, 'id'));
    foreach (Basket::with('items')->orderBy('id')->get() as $b) {
        say("loaded: $b->title:", $b->items->map(fn ($i) => "$i->id $i->name")->implode(', '));
    }
    $i = Item::find(6);
    say("item: $i->name of {$i->basket->title}");
    $pears = Item::join('baskets', 'baskets.id', '=', 'items.basket_id')->where('name', 'pear')->orderByDesc('baskets.title')->limit(3);
    say('pears:', $pears->pluck('baskets.title')->implode('; '));
    refused('orphan:', fn () => Item::create(['basket_id' => 99, 'name' => 'plum']));
    refused('parent:', fn () => Basket::find(1)->delete());
    DB::transaction(function () use ($made) {
        $made[1]->items()->delete();
        $made[1]->delete();
    });
    say(sprintf('left: %d baskets, %d items', Basket::count(), Item::count()));
}
