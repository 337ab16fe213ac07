<?php

use Illuminate\Database\Capsule\Manager as DB;
use function Shop\say;

function memberLine(Member $m): string
{
    return "$m->id $m->email $m->name $m->visits";
}

/** members makes a table in which each e-mail address is there once. */
function members(): void
{
    migrate('2024_01_03_000000_create_members_table');
    $one = fn (string $email) => Member::where('email', $email)->first();
    $made = array_map(fn ($row) => Member::create(['email' => $row[0], 'name' => $row[1]]), Shop\MEMBERS);
    say('made:', ...array_column($made, 'id'));
    say('by e-mail:', memberLine($one('bob@example.com')));
    say('in capitals:', memberLine($one('BOB@example.com')));
    say('missing:', $one('bob@example.org') ? 'found' : 'none');
    refused('duplicate:', fn () => Member::create(['email' => 'Ana@Example.com', 'name' => 'Anna']));
    refused('several:', fn () => Member::insert([['email' => 'eve@example.com', 'name' => 'Eve'], ['email' => 'dan@example.com', 'name' => 'Daniel']]));
    say('members:', Member::count());
    $made[1]->update(['email' => 'rob@example.com', 'name' => 'Robert', 'visits' => 1]);
    say('changed:', memberLine($one('rob@example.com')));
    refused('taken:', fn () => $made[1]->update(['email' => 'cem@example.com']));
    say('before:', $one('bob@example.com') ? 'found' : 'none');
    Member::firstOrCreate(['email' => 'bob@example.com'], ['name' => 'Bobby']);
    $m = Member::firstOrCreate(['email' => 'bob@example.com'], ['name' => 'Nobody']);
    say('again:', $m->email, $m->name, $m->visits);
    Member::upsert(array_map(fn ($row) => array_combine(['email', 'name', 'visits'], $row), Shop\UPSERTED), ['email'], ['name', 'visits']);
    foreach (Member::orderBy('email')->get() as $m) {
        say('upserted:', $m->email, $m->name, $m->visits);
    }
    say('named:', Member::where('name', 'Eve')->first()->email);
    try {
        DB::transaction(function () use ($one) {
            $one('cem@example.com')->update(['email' => 'zoe@example.com']);
            say('inside:', $one('zoe@example.com')->email);
            throw new Shop\Undone();
        });
    } catch (Shop\Undone $e) {
        say('undone:', Member::where('name', 'Cem')->first()->email);
    }
    say('raised:', Member::whereIn('email', ['ana@example.com', 'eve@example.com'])->increment('visits'));
    say('deleted:', Member::where('email', 'dan@example.com')->delete());
    say(sprintf('left: %d, %d', Member::count(), Member::sum('visits')));
}
