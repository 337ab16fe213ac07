<?php

use Illuminate\Database\Capsule\Manager as DB;
use Shop\{function say};

/** introspect writes down what Eloquent, and the DBAL that it asks for more, find in the schema. */
function introspect(): void
{
    $schema = DB::schema();
    say('tables', json_encode($schema->getAllTables()), 'views', json_encode($schema->getAllViews()));
    say('has', json_encode([$schema->hasTable('users'), $schema->hasTable('nothing'), $schema->hasColumns('orders', ['id', 'status'])]));
    say('server', DB::connection()->getPdo()->getAttribute(PDO::ATTR_SERVER_VERSION), json_encode(DB::connection()->isMaria()));
    foreach (['users', 'orders'] as $table) {
        $columns = $schema->getColumnListing($table); // in no certain order
        sort($columns);
        say($table, json_encode($columns));
        foreach (['id', 'created'] as $column) {
            say('  type', $column, $schema->getColumnType($table, $column));
        }
        $about = DB::connection()->getDoctrineSchemaManager()->listTableDetails($table);
        foreach ($about->getColumns() as $c) {
            say('  column', $c->getName(), json_encode(['type' => $c->getType()->getName()] + array_diff_key($c->toArray(), ['type' => 0])));
        }
        $indexes = $about->getIndexes(); // of several keys in no certain order
        ksort($indexes);
        foreach ($indexes as $i) {
            say('  index', $i->getName(), json_encode([$i->getColumns(), $i->isUnique(), $i->isPrimary()]));
        }
        say('  options', json_encode($about->getOptions()), 'references', count($about->getForeignKeys()));
    }
}
