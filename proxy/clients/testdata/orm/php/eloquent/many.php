<?php
// Writes to several shards at once.

use Illuminate\Database\Capsule\Manager as DB;
use Shop\Undone;
use function Shop\{orderId, orderLine, orders, say, user, userId, userLine};

/** changeOrder changes one order and deletes another, each by its own id, which is not the key of the shards. */
function changeOrder(): void
{
    $o = Order::find(orderId(9, 1));
    $o->update(['status' => 'returned']);
    $o->refresh();
    say('changed:', orderLine($o, $o->user_id));
    Order::find(orderId(10, 3))->delete();
}

/** transfer moves 10 from one user to another. */
function transfer(): void
{
    foreach ([11 => -10, 13 => 10] as $i => $amount) {
        $u = User::lockForUpdate()->find(userId($i));
        $u->balance += $amount;
        $u->save();
    }
}

function pair(string $what): void
{
    foreach (User::whereIn('id', [userId(11), userId(13)])->orderBy('id')->get() as $u) {
        say($what, userLine($u));
    }
}

function many(): void
{
    DB::transaction(function () {
        $u = User::find(userId(4));
        $u->orders()->delete();
        $u->delete();
    });
    rows();
    DB::transaction(function () {
        User::insert(array_map('Shop\user', range(21, 26)));
        Order::insert(array_merge(...array_map('Shop\orders', range(21, 26))));
    });
    rows();
    $raised = User::where('country', 'DE')->increment('balance', 5);
    say(sprintf('raised: %d, %.2f', $raised, User::where('country', 'DE')->sum('balance')));
    changeOrder();
    rows();
    say('new ones deleted:', Order::where('status', 'new')->delete());
    rows();
    DB::transaction(fn () => transfer());
    pair('transferred:');
    try {
        DB::transaction(function () {
            transfer();
            throw new Undone();
        });
    } catch (Undone $e) {
        pair('not again:');
    }
    say(sprintf('in all: %.2f', User::sum('balance')));
}
