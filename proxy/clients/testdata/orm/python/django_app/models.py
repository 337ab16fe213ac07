"""The tables of the shop. Those of users and orders exist; the others Django makes."""

from django.db import models


class User(models.Model):
    id = models.BigIntegerField(primary_key=True)
    name = models.CharField(max_length=100)
    email = models.CharField(max_length=200)
    country = models.CharField(max_length=2)
    balance = models.DecimalField(max_digits=12, decimal_places=2)
    created = models.DateTimeField()

    class Meta:
        db_table = "users"
        managed = False


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, db_constraint=False)
    status = models.CharField(max_length=10)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    created = models.DateTimeField()

    class Meta:
        db_table = "orders"
        managed = False


class Note(models.Model):
    owner = models.BigIntegerField()
    title = models.CharField(max_length=100)

    class Meta:
        db_table = "notes"
        managed = False


class Member(models.Model):
    email = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=100)
    visits = models.IntegerField(default=0)

    class Meta:
        db_table = "members"
        managed = False


class Basket(models.Model):
    title = models.CharField(max_length=100)

    class Meta:
        db_table = "baskets"
        managed = False


class Item(models.Model):
    basket = models.ForeignKey(Basket, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)

    class Meta:
        db_table = "items"
        managed = False
