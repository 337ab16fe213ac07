<?php
// A shop written with Eloquent.
//
// usage: main.php HOST PORT DATABASE

error_reporting(E_ALL & ~E_DEPRECATED);
require_once 'Illuminate/Database/autoload.php';
require_once __DIR__ . '/../shop.php';
foreach (['models', 'introspection', 'work', 'many', 'ids', 'related', 'members'] as $file) {
    require_once __DIR__ . "/$file.php";
}

use Illuminate\Database\Capsule\Manager as DB;

$shop = new DB();
$shop->addConnection([
    'driver' => 'mysql', 'host' => $argv[1], 'port' => $argv[2], 'database' => $argv[3], 'username' => 'root', 'password' => 'root',
    'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'strict' => true,
]);
$shop->setAsGlobal();
$shop->bootEloquent();

Shop\run(['introspect' => 'introspect', 'shop' => 'work', 'many' => 'many', 'ids' => 'ids', 'related' => 'related', 'members' => 'members']);
