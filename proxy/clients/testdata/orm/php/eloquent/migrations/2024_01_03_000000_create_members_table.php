<?php

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;

return new class extends Migration {
    public function up()
    {
        DB::schema()->create('members', function (Blueprint $table) {
            $table->id();
            $table->string('email', 200)->unique();
            $table->string('name', 100);
            $table->integer('visits')->default(0);
        });
    }
};
