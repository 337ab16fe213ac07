<?php

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;

return new class extends Migration {
    public function up()
    {
        DB::schema()->create('baskets', function (Blueprint $table) {
            $table->id();
            $table->string('title', 100);
            $table->timestamps();
        });
        DB::schema()->create('items', function (Blueprint $table) {
            $table->id();
            $table->foreignId('basket_id')->constrained();
            $table->string('name', 100);
            $table->timestamps();
        });
    }
};
