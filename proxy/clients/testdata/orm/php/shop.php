<?php
// What the shop of both PHP applications holds, how its rows are written down, and how steps are run.

namespace Shop;

date_default_timezone_set('UTC');
mb_internal_encoding('UTF-8');

const NAMES = [
    'Ana', 'Łukasz', 'Zoë', "O'Brien", 'Ömer', 'maria', 'Maria', 'Élodie', 'Bob', 'Çağla', 'Straße', 'Strasse', 'İpek', 'Jürgen', '安娜', 'ana',
    'Ωmega', 'Ivan', 'zoe', 'Back\\slash', 'Tim 😀', '%percent', 'Per_cent', 'Nora', 'Olaf', 'Quentin',
];
const COUNTRIES = ['DE', 'FR', 'PL'];
const STATUSES = ['new', 'paid', 'sent'];
const TITLES = ['one', 'two', 'three'];
const FRUIT = ['apple', 'pear'];
const MEMBERS = [['ana@example.com', 'Ana'], ['bob@example.com', 'Bob'], ['cem@example.com', 'Cem'], ['dan@example.com', 'Dan']];
const UPSERTED = [['rob@example.com', 'Rob', 5], ['eve@example.com', 'Eve', 1], ['bob@example.com', 'Bobby', 7]];
const TIME = 'Y-m-d H:i:s.u';

/** Undone is thrown to have a transaction rolled back. */
class Undone extends \Exception
{
}

function money(int $cents): string
{
    return sprintf('%.2f', $cents / 100);
}

function userId(int $i): int
{
    return 1000 + 7 * $i;
}

function orderId(int $i, int $k): int
{
    return 10 * userId($i) + $k;
}

/** user gives the columns of user i, from 1 to 26. */
function user(int $i): array
{
    return [
        'id' => userId($i), 'name' => NAMES[$i - 1], 'email' => "u$i@example.com", 'country' => COUNTRIES[$i % 3], 'balance' => money(1025 * $i),
        'created' => new \DateTime(sprintf('2024-01-01 00:00:00.%06d +%d days', 1001 * $i, $i)),
    ];
}

/** orders gives the columns of user i's three orders. */
function orders(int $i): array
{
    return array_map(fn ($k) => [
        'id' => orderId($i, $k), 'user_id' => userId($i), 'status' => STATUSES[($i + $k) % 3], 'amount' => money(110 * $i * $k + $k),
        'created' => user($i)['created']->modify("+$k hours"),
    ], [1, 2, 3]);
}

function say(...$what): void
{
    echo implode(' ', $what), "\n";
}

function userLine($u): string
{
    return sprintf('%d %s %s %s %.2f %s', $u->id, $u->name, $u->email, $u->country, $u->balance, $u->created->format(TIME));
}

function orderLine($o, int $userId): string
{
    return sprintf('%d %d %s %.2f %s', $o->id, $userId, $o->status, $o->amount, $o->created->format(TIME));
}

/** run runs each step under its heading; one that fails does not keep the next from running, but the program's end says so. */
function run(array $steps): void
{
    $failed = false;
    foreach ($steps as $name => $step) {
        say('==', $name);
        try {
            $step();
        } catch (\Throwable $e) {
            $failed = true;
            say('failed:', $e->getMessage());
            fwrite(STDERR, "$e\n");
        }
    }
    exit($failed ? 1 : 0);
}
