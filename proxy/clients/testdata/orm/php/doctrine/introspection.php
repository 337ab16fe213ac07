<?php

use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Tools\SchemaTool;
use Entity\{Order, User};
use function Shop\say;

/** introspect writes down what Doctrine finds in the schema, and what it would change. */
function introspect(EntityManager $em): void
{
    $connection = $em->getConnection();
    $schema = $connection->createSchemaManager();
    say(get_class($connection->getDatabasePlatform()), $connection->getDatabase());
    say('tables', json_encode($schema->listTableNames()), 'views', count($schema->listViews()), 'has', json_encode([$schema->tablesExist(['users']), $schema->tablesExist(['nothing'])]));
    foreach ($schema->listTables() as $table) {
        say($table->getName(), json_encode($table->getOptions()));
        foreach ($table->getColumns() as $c) {
            say('  column', $c->getName(), json_encode(['type' => $c->getType()->getName()] + array_diff_key($c->toArray(), ['type' => 0])));
        }
        $indexes = $table->getIndexes(); // of several keys in no certain order
        ksort($indexes);
        foreach ($indexes as $i) {
            say('  index', $i->getName(), json_encode([$i->getColumns(), $i->isUnique(), $i->isPrimary()]));
        }
        say('  references', count($table->getForeignKeys()));
    }
    $tool = new SchemaTool($em);
    foreach ($tool->getUpdateSchemaSql([$em->getClassMetadata(User::class), $em->getClassMetadata(Order::class)], true) as $sql) {
        say('would', $sql);
    }
}
