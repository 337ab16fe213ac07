<?php
// Creates, reads and changes; each of its writes is one shard's.

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\QueryException;
use Shop\Undone;
use function Shop\{orderId, orderLine, orders, say, user, userId, userLine};

function rows(): void
{
    say(sprintf('rows: %d users, %d orders', User::count(), Order::count()));
}

function insert(): void
{
    for ($i = 1; $i <= 10; $i++) {
        DB::transaction(function () use ($i) {
            User::create(user($i));
            foreach (orders($i) as $o) {
                Order::create($o);
            }
        });
    }
    for ($i = 11; $i <= 20; $i++) {
        DB::transaction(fn () => User::create(user($i))->orders()->createMany(orders($i)));
    }
}

function read(): void
{
    say('user:', userLine(User::find(userId(5))));
    say('missing:', User::find(999) === null ? 'none' : 'found');
    $o = Order::findOrFail(orderId(7, 2));
    say('order:', orderLine($o, $o->user_id));
    foreach (User::whereIn('id', [userId(14), userId(3), 999, userId(8)])->orderBy('id')->get() as $u) {
        say('one of several:', userLine($u));
    }
    for ($page = 0; $page < 4; $page++) {
        $users = User::where('country', 'FR')->orderBy('name')->orderBy('id')->skip(3 * $page)->take(3)->get();
        say("page $page of FR:", $users->map(fn ($u) => "$u->id $u->name")->implode('; '));
    }
    foreach (Order::orderByDesc('created')->orderByDesc('id')->skip(1)->take(3)->get() as $o) {
        say('new order:', orderLine($o, $o->user_id));
    }
    foreach (User::where('balance', '>', 100)->where('country', '<>', 'DE')->orderByDesc('balance')->limit(3)->get() as $u) {
        say('rich:', userLine($u));
    }
    say('like a:', User::where('name', 'like', 'a%')->orderBy('id')->pluck('name')->implode('; '));
    say('statuses:', Order::distinct()->orderBy('status')->pluck('status')->implode(' '));
}

function aggregate(): void
{
    say('in PL:', User::where('country', 'PL')->count());
    say(sprintf('balances: %.2f to %.2f', User::min('balance'), User::max('balance')));
    $figures = User::selectRaw('country, COUNT(id) AS n, SUM(balance) AS total, AVG(balance) AS mean')->groupBy('country')->orderBy('country');
    foreach ($figures->get() as $c) {
        say(sprintf('country: %s %d %.2f %.4f', $c->country, $c->n, $c->total, $c->mean));
    }
}

function join_(): void
{
    foreach (Order::with('user')->where('user_id', userId(4))->orderBy('id')->get() as $o) {
        say('order of one:', $o->user->name, orderLine($o, $o->user_id));
    }
    $all = Order::join('users', 'users.id', '=', 'orders.user_id')->orderBy('users.name')->orderBy('orders.id');
    foreach ($all->get(['orders.*', 'users.name as user_name']) as $o) {
        say('order of all:', $o->user_name, $o->id, $o->status);
    }
    $spent = Order::join('users', 'users.id', '=', 'orders.user_id')->groupBy('users.country')->orderBy('users.country');
    foreach ($spent->selectRaw('users.country, COUNT(orders.id) AS n, SUM(orders.amount) AS spent')->get() as $c) {
        say(sprintf('spent in: %s %d %.2f', $c->country, $c->n, $c->spent));
    }
    foreach (User::withSum('orders', 'amount')->orderByDesc('orders_sum_amount')->orderBy('id')->limit(3)->get() as $u) {
        say(sprintf('most spent: %s %.2f', $u->name, $u->orders_sum_amount));
    }
    foreach (User::with('orders')->where('country', 'DE')->orderBy('id')->get() as $u) {
        say('loaded:', $u->name, $u->orders->pluck('id')->sort()->implode(' '));
    }
}

function change(): void
{
    DB::transaction(function () {
        $u = User::lockForUpdate()->find(userId(6));
        $u->balance += 100;
        $u->name = 'Maria II';
        $u->save();
    });
    $u = User::find(userId(6));
    $u->increment('balance', 1);
    say('changed:', userLine($u->fresh()));
}

function undo(): void
{
    $one = User::where('id', userId(21));
    try {
        DB::transaction(function () use ($one) {
            User::create(user(21));
            say('inside:', $one->count());
            throw new Undone();
        });
    } catch (Undone $e) {
        say('undone:', $one->count());
    }
}

function duplicate(): void
{
    try {
        User::create(user(1));
    } catch (QueryException $e) {
        say('duplicate: refused', $e->errorInfo[1]);
    }
}

function work(): void
{
    insert();
    rows();
    read();
    aggregate();
    join_();
    change();
    undo();
    duplicate();
    rows();
}
