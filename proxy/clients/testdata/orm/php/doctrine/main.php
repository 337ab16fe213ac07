<?php
// A shop written with Doctrine.
//
// usage: main.php HOST PORT DATABASE

error_reporting(E_ALL & ~E_DEPRECATED);
require_once 'Doctrine/ORM/autoload.php';
require_once __DIR__ . '/../shop.php';
foreach (['entities', 'introspection', 'work', 'many', 'ids', 'related', 'members'] as $file) {
    require_once __DIR__ . "/$file.php";
}

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Types\Type;
use Doctrine\ORM\{Configuration, EntityManager};
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Proxy\ProxyFactory;
use Entity\Moment;

Type::addType(Moment::NAME, Moment::class);
$config = new Configuration();
$config->setMetadataDriverImpl(new AttributeDriver([]));
$config->setProxyDir(sys_get_temp_dir());
$config->setProxyNamespace('Proxies');
$config->setAutoGenerateProxyClasses(ProxyFactory::AUTOGENERATE_EVAL);
$connection = DriverManager::getConnection([
    'driver' => 'pdo_mysql', 'host' => $argv[1], 'port' => $argv[2], 'dbname' => $argv[3], 'user' => 'root', 'password' => 'root', 'charset' => 'utf8mb4',
], $config);

// An error closes an entity manager, so each step has one of its own.
$step = fn (callable $do) => fn () => $do(new EntityManager($connection, $config));
Shop\run(['introspect' => $step('introspect'), 'shop' => $step('work'), 'many' => $step('many'), 'ids' => $step('ids'), 'related' => $step('related'), 'members' => $step('members')]);
