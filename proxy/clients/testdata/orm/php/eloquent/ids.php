<?php

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Migrations\{DatabaseMigrationRepository, Migrator};
use Illuminate\Filesystem\Filesystem;
use function Shop\say;

function noteLine(Note $n): string
{
    return "$n->id $n->owner $n->title";
}

/** migrate does what artisan's command does with one migration. */
function migrate(string $name): void
{
    $databases = DB::connection()->getName();
    $resolver = (new Note())->getConnectionResolver();
    $repository = new DatabaseMigrationRepository($resolver, 'migrations');
    $migrator = new Migrator($repository, $resolver, new Filesystem());
    $migrator->setConnection($databases);
    if (!$migrator->repositoryExists()) {
        $repository->createRepository();
    }
    $migrator->run([__DIR__ . "/migrations/$name.php"]);
}

/** ids makes a table by a migration, and leaves the ids to it. */
function ids(): void
{
    migrate('2024_01_01_000000_create_notes_table');
    $made = [];
    for ($i = 1; $i <= 4; $i++) {
        $made[] = Note::create(['owner' => $i, 'title' => "note $i"]);
    }
    say('made:', ...array_column($made, 'id'));
    Note::insert(array_map(fn ($title) => ['owner' => 5, 'title' => $title], Shop\TITLES));
    foreach (Note::where('owner', 5)->orderBy('id')->get() as $n) {
        say('together:', noteLine($n));
    }
    foreach (Note::latest('id')->skip(1)->take(3)->get() as $n) {
        say('page:', noteLine($n));
    }
    $n = Note::findOrFail($made[1]->id);
    $n->title = 'changed';
    $n->save();
    say('changed:', noteLine($n->fresh()));
    $made[0]->delete();
    say('left:', Note::count());
    say('next:', Note::create(['owner' => 6, 'title' => 'last'])->id);
}
