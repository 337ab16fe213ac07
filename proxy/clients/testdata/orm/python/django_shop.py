"""A shop written with Django.

usage: django_shop.py HOST PORT DATABASE
"""

import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import Avg, Count, F, Max, Min, Sum

import shop
from shop import order_line, say, user_line

settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.mysql", "HOST": sys.argv[1], "PORT": sys.argv[2], "NAME": sys.argv[3], "USER": "root", "PASSWORD": "root",
    }},
    INSTALLED_APPS=["django_app"], USE_TZ=False, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django_app.models import Basket, Item, Member, Note, Order, User  # noqa: E402, after the set-up, which it needs


def introspect():
    features = connection.features
    say(connection.vendor, connection.mysql_version, connection.mysql_is_mariadb, sorted(connection.sql_mode))
    say(features.minimum_database_version, features.supports_transactions, features.has_zoneinfo_database, connection.timezone_name)
    call_command("check", databases=["default"], stdout=sys.stdout)
    with connection.cursor() as c:
        say("tables", connection.introspection.get_table_list(c))
        for table in ("users", "orders"):
            say(table)
            for column in connection.introspection.get_table_description(c, table):
                say("  column", tuple(column))
            say("  primary key", connection.introspection.get_primary_key_columns(c, table))
            say("  relations", connection.introspection.get_relations(c, table))
            say("  sequences", connection.introspection.get_sequences(c, table))
            say("  storage engine", connection.introspection.get_storage_engine(c, table))
            for name, constraint in sorted(connection.introspection.get_constraints(c, table).items()):
                say("  constraint", name, constraint)
    call_command("inspectdb", "users", "orders", stdout=sys.stdout)


def rows():
    say("rows: %d users, %d orders" % (User.objects.count(), Order.objects.count()))


def insert():
    for i in range(1, 11):
        with transaction.atomic():
            User(**shop.user(i)).save(force_insert=True)
            for o in shop.orders(i):
                Order.objects.create(**o)
    for i in range(11, 21):
        with transaction.atomic():
            User.objects.create(**shop.user(i))
            Order.objects.bulk_create([Order(**o) for o in shop.orders(i)])
    rows()


def read():
    say("user:", user_line(User.objects.get(pk=shop.user_id(5))))
    say("missing:", "none" if User.objects.filter(pk=999).first() is None else "found")
    say("order:", order_line(Order.objects.get(pk=shop.order_id(7, 2))))
    for u in User.objects.filter(pk__in=[shop.user_id(14), shop.user_id(3), 999, shop.user_id(8)]).order_by("id"):
        say("one of several:", user_line(u))
    for page in range(4):
        users = User.objects.filter(country="FR").order_by("name", "id")[3 * page:3 * page + 3]
        say("page %d of FR:" % page, "; ".join("%d %s" % (u.id, u.name) for u in users))
    for o in Order.objects.order_by("-created", "-id")[1:4]:
        say("new order:", order_line(o))
    for u in User.objects.filter(balance__gt=100).exclude(country="DE").order_by("-balance")[:3]:
        say("rich:", user_line(u))
    say("like a:", "; ".join(u.name for u in User.objects.filter(name__istartswith="a").order_by("id")))
    say("statuses:", *Order.objects.order_by("status").values_list("status", flat=True).distinct())


def aggregate():
    say("in PL:", User.objects.filter(country="PL").count())
    b = User.objects.aggregate(least=Min("balance"), most=Max("balance"))
    say("balances: %.2f to %.2f" % (b["least"], b["most"]))
    for c in User.objects.values("country").annotate(n=Count("id"), total=Sum("balance"), mean=Avg("balance")).order_by("country"):
        say("country: %s %d %.2f %.4f" % (c["country"], c["n"], c["total"], c["mean"]))


def join():
    one = Order.objects.select_related("user").filter(user_id=shop.user_id(4)).order_by("id")
    for o in one:
        say("order of one:", o.user.name, order_line(o))
    for o in Order.objects.select_related("user").order_by("user__name", "id"):
        say("order of all:", o.user.name, o.id, o.status)
    for c in Order.objects.values("user__country").annotate(n=Count("id"), spent=Sum("amount")).order_by("user__country"):
        say("spent in: %s %d %.2f" % (c["user__country"], c["n"], c["spent"]))
    for u in User.objects.annotate(spent=Sum("order__amount")).order_by("-spent", "id")[:3]:
        say("most spent: %s %.2f" % (u.name, u.spent))
    for u in User.objects.filter(country="DE").prefetch_related("order_set").order_by("id"):
        say("loaded:", u.name, *sorted(o.id for o in u.order_set.all()))


def change():
    with transaction.atomic():
        u = User.objects.select_for_update().get(pk=shop.user_id(6))
        u.balance += 100
        u.name = "Maria II"
        u.save()
    u = User.objects.get(pk=shop.user_id(6))
    User.objects.filter(pk=u.pk).update(balance=F("balance") + 1)
    u.refresh_from_db()
    say("changed:", user_line(u))
    try:
        with transaction.atomic():
            User.objects.create(**shop.user(21))
            say("inside: %d" % User.objects.filter(pk=shop.user_id(21)).count())
            raise shop.Undone
    except shop.Undone:
        say("undone: %d" % User.objects.filter(pk=shop.user_id(21)).count())
    try:
        User.objects.create(**shop.user(1))
    except IntegrityError as e:
        say("duplicate: refused", e.args[0])
    rows()


def work():
    insert()
    read()
    aggregate()
    join()
    change()


def many():
    User.objects.get(pk=shop.user_id(4)).delete()
    rows()
    with transaction.atomic():
        User.objects.bulk_create([User(**shop.user(i)) for i in range(21, 27)])
        Order.objects.bulk_create([Order(**o) for i in range(21, 27) for o in shop.orders(i)])
    rows()
    n = User.objects.filter(country="DE").update(balance=F("balance") + 5)
    say("raised: %d, %.2f" % (n, User.objects.filter(country="DE").aggregate(s=Sum("balance"))["s"]))
    o = Order.objects.get(pk=shop.order_id(9, 1))
    o.status = "returned"
    o.save()
    o.refresh_from_db()
    say("changed:", order_line(o))
    Order.objects.get(pk=shop.order_id(10, 3)).delete()
    rows()
    n, _ = Order.objects.filter(status="new").delete()
    say("new ones deleted: %d" % n)
    rows()
    transfer(11, 13)
    for u in User.objects.filter(pk__in=[shop.user_id(11), shop.user_id(13)]).order_by("id"):
        say("transferred:", user_line(u))
    try:
        with transaction.atomic():
            transfer(11, 13)
            raise shop.Undone
    except shop.Undone:
        pass
    for u in User.objects.filter(pk__in=[shop.user_id(11), shop.user_id(13)]).order_by("id"):
        say("not again:", user_line(u))
    say("in all: %.2f" % User.objects.aggregate(s=Sum("balance"))["s"])


def transfer(i, j):
    """Move 10 from one user to another."""
    with transaction.atomic():
        for k, amount in ((i, -10), (j, 10)):
            u = User.objects.select_for_update().get(pk=shop.user_id(k))
            u.balance += amount
            u.save(update_fields=["balance"])


def ids():
    with connection.schema_editor() as editor:
        editor.create_model(Note)
    made = [Note.objects.create(owner=i, title="note %d" % i) for i in range(1, 5)]
    say("made:", *(n.id for n in made))
    Note.objects.bulk_create([Note(owner=5, title=title) for title in shop.TITLES])
    for n in Note.objects.filter(owner=5).order_by("id"):
        say("together:", shop.note_line(n))
    for n in Note.objects.order_by("-id")[1:4]:
        say("page:", shop.note_line(n))
    n = Note.objects.get(pk=made[1].id)
    n.title = "changed"
    n.save(update_fields=["title"])
    say("changed:", shop.note_line(Note.objects.get(pk=n.id)))
    Note.objects.get(pk=made[0].id).delete()
    say("left: %d" % Note.objects.count())
    say("next:", Note.objects.create(owner=6, title="last").id)


def related():
    with connection.schema_editor() as editor:
        editor.create_model(Basket)
        editor.create_model(Item)
    made = []
    for i in range(1, 5):
        with transaction.atomic():
            made.append(Basket.objects.create(title="basket %d" % i))
            Item.objects.bulk_create([Item(basket=made[-1], name=name) for name in shop.FRUIT])
    say("baskets:", *(b.id for b in made))
    for b in Basket.objects.prefetch_related("item_set").order_by("id"):
        say("loaded: %s:" % b.title, ", ".join("%d %s" % (i.id, i.name) for i in sorted(b.item_set.all(), key=lambda i: i.id)))
    i = Item.objects.get(pk=6)
    say("item: %s of %s" % (i.name, i.basket.title))
    pears = Item.objects.select_related("basket").filter(name="pear").order_by("-basket__title")[:3]
    say("pears:", "; ".join(i.basket.title for i in pears))
    try:
        Item.objects.create(basket_id=99, name="plum")
    except IntegrityError as e:
        say("orphan: refused", e.args[0])
    try:
        Basket.objects.filter(pk=1)._raw_delete("default")
    except IntegrityError as e:
        say("parent: refused", e.args[0])
    made[1].delete()
    say("left: %d baskets, %d items" % (Basket.objects.count(), Item.objects.count()))


def refused(what, change):
    """Tell by which error a change is refused."""
    try:
        with transaction.atomic():
            change()
    except IntegrityError as e:
        say(what, "refused", e.args[0])


def members():
    with connection.schema_editor() as editor:
        editor.create_model(Member)
    by_email = Member.objects.get
    made = [Member.objects.create(email=email, name=name) for email, name in shop.MEMBERS]
    say("made:", *(m.id for m in made))
    say("by e-mail:", shop.member_line(by_email(email="bob@example.com")))
    say("in capitals:", shop.member_line(by_email(email="BOB@example.com")))
    say("missing:", "found" if Member.objects.filter(email="bob@example.org").exists() else "none")
    refused("duplicate:", lambda: Member.objects.create(email="Ana@Example.com", name="Anna"))
    refused("several:", lambda: Member.objects.bulk_create([Member(email="eve@example.com", name="Eve"), Member(email="dan@example.com", name="Daniel")]))
    say("members: %d" % Member.objects.count())
    m = made[1]
    m.email, m.name, m.visits = "rob@example.com", "Robert", 1
    m.save()
    say("changed:", shop.member_line(by_email(email="rob@example.com")))
    m.email = "cem@example.com"
    refused("taken:", m.save)
    say("before:", "found" if Member.objects.filter(email="bob@example.com").exists() else "none")
    Member.objects.create(email="bob@example.com", name="Bobby")
    m, _ = Member.objects.get_or_create(email="bob@example.com", defaults={"name": "Nobody"})
    say("again:", m.email, m.name, m.visits)
    Member.objects.bulk_create(
        [Member(email=email, name=name, visits=visits) for email, name, visits in shop.UPSERTED], update_conflicts=True, update_fields=["name", "visits"])
    for m in Member.objects.order_by("email"):
        say("upserted:", m.email, m.name, m.visits)
    say("named:", Member.objects.get(name="Eve").email)
    try:
        with transaction.atomic():
            m = by_email(email="cem@example.com")
            m.email = "zoe@example.com"
            m.save()
            say("inside:", by_email(email="zoe@example.com").email)
            raise shop.Undone
    except shop.Undone:
        say("undone:", by_email(name="Cem").email)
    say("raised: %d" % Member.objects.filter(email__in=["ana@example.com", "eve@example.com"]).update(visits=F("visits") + 1))
    say("deleted: %d" % Member.objects.filter(email="dan@example.com").delete()[0])
    say("left: %d, %d" % (Member.objects.count(), Member.objects.aggregate(s=Sum("visits"))["s"]))


shop.run({"introspect": introspect, "shop": work, "many": many, "ids": ids, "related": related, "members": members})
