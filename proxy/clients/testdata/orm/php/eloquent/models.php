<?php
// The tables of the shop. Those of users and orders exist; the others come by migrations.

use Illuminate\Database\Eloquent\Model;

class User extends Model
{
    public $timestamps = false;
    public $incrementing = false;
    protected $guarded = [];
    protected $dateFormat = Shop\TIME;
    protected $casts = ['balance' => 'decimal:2', 'created' => 'datetime'];

    public function orders()
    {
        return $this->hasMany(Order::class);
    }
}

class Order extends Model
{
    public $timestamps = false;
    public $incrementing = false;
    protected $guarded = [];
    protected $dateFormat = Shop\TIME;
    protected $casts = ['amount' => 'decimal:2', 'created' => 'datetime'];

    public function user()
    {
        return $this->belongsTo(User::class);
    }
}

class Note extends Model
{
    protected $guarded = [];
}

class Member extends Model
{
    public $timestamps = false;
    protected $guarded = [];
    protected $attributes = ['visits' => 0];
}

class Basket extends Model
{
    protected $guarded = [];

    public function items()
    {
        return $this->hasMany(Item::class)->orderBy('id');
    }
}

class Item extends Model
{
    protected $guarded = [];

    public function basket()
    {
        return $this->belongsTo(Basket::class);
    }
}
