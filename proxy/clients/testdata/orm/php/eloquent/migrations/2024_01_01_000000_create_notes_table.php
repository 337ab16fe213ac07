<?php

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;

return new class extends Migration {
    public function up()
    {
        DB::schema()->create('notes', function (Blueprint $table) {
            $table->id();
            $table->bigInteger('owner');
            $table->string('title', 100);
            $table->timestamps();
        });
    }
};
