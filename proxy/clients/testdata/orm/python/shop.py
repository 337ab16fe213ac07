"""What the shop of both Python applications holds, how its rows are written down, and how steps are run."""

import datetime
import decimal
import sys
import traceback

NAMES = [
    "Ana", "Łukasz", "Zoë", "O'Brien", "Ömer", "maria", "Maria", "Élodie", "Bob", "Çağla", "Straße", "Strasse", "İpek", "Jürgen", "安娜", "ana",
    "Ωmega", "Ivan", "zoe", "Back\\slash", "Tim 😀", "%percent", "Per_cent", "Nora", "Olaf", "Quentin",
]
COUNTRIES = ["DE", "FR", "PL"]
STATUSES = ["new", "paid", "sent"]
TITLES = ["one", "two", "three"]
FRUIT = ["apple", "pear"]
MEMBERS = [("ana@example.com", "Ana"), ("bob@example.com", "Bob"), ("cem@example.com", "Cem"), ("dan@example.com", "Dan")]
UPSERTED = [("rob@example.com", "Rob", 5), ("eve@example.com", "Eve", 1), ("bob@example.com", "Bobby", 7)]


def money(cents):
    return decimal.Decimal(cents) / 100


def user_id(i):
    return 1000 + 7 * i


def order_id(i, k):
    return user_id(i) * 10 + k


def user(i):
    """The columns of user i, from 1 to 26."""
    return {
        "id": user_id(i), "name": NAMES[i - 1], "email": "u%d@example.com" % i, "country": COUNTRIES[i % 3], "balance": money(1025 * i),
        "created": datetime.datetime(2024, 1, 1) + datetime.timedelta(days=i, microseconds=1001 * i),
    }


def orders(i):
    """The columns of user i's three orders."""
    return [{
        "id": order_id(i, k), "user_id": user_id(i), "status": STATUSES[(i + k) % 3], "amount": money(110 * i * k + k),
        "created": user(i)["created"] + datetime.timedelta(hours=k),
    } for k in (1, 2, 3)]


def say(*what):
    print(*what, flush=True)


def time(t):
    return t.strftime("%Y-%m-%d %H:%M:%S.%f")


def user_line(u):
    return "%d %s %s %s %.2f %s" % (u.id, u.name, u.email, u.country, u.balance, time(u.created))


def order_line(o):
    return "%d %d %s %.2f %s" % (o.id, o.user_id, o.status, o.amount, time(o.created))


def note_line(n):
    return "%d %d %s" % (n.id, n.owner, n.title)


def member_line(m):
    return "%d %s %s %d" % (m.id, m.email, m.name, m.visits)


class Undone(Exception):
    """Raised to have a transaction rolled back."""


def run(steps):
    """Run each step under its heading; one that fails does not keep the next from running, but the program's end says so."""
    failed = False
    for name, step in steps.items():
        say("==", name)
        try:
            step()
        except Exception as e:
            failed = True
            say("failed:", type(e).__name__, e)
            traceback.print_exc()
    sys.exit(1 if failed else 0)
