"""A shop written with SQLAlchemy.

usage: sqlalchemy_shop.py HOST PORT DATABASE
"""

import datetime
import decimal
import sys

from sqlalchemy import BigInteger, ForeignKey, MetaData, Numeric, String, Table, create_engine, delete, func, inspect, insert, select, update
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.dialects.mysql import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, contains_eager, mapped_column, relationship, selectinload

import shop
from shop import order_line, say, user_line

engine = create_engine("mysql+mysqldb://root:root@%s:%s/%s" % tuple(sys.argv[1:4]))


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100))
    email: Mapped[str] = mapped_column(String(200))
    country: Mapped[str] = mapped_column(String(2))
    balance: Mapped[decimal.Decimal] = mapped_column(Numeric(12, 2))
    created: Mapped[datetime.datetime] = mapped_column(DATETIME(fsp=6))
    orders: Mapped[list["Order"]] = relationship(back_populates="user", cascade="all, delete-orphan", order_by="Order.id")


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    status: Mapped[str] = mapped_column(String(10))
    amount: Mapped[decimal.Decimal] = mapped_column(Numeric(12, 2))
    created: Mapped[datetime.datetime] = mapped_column(DATETIME(fsp=6))
    user: Mapped[User] = relationship(back_populates="orders")


class Note(Base):
    __tablename__ = "notes"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    owner: Mapped[int] = mapped_column(BigInteger)
    title: Mapped[str] = mapped_column(String(100))


class Member(Base):
    __tablename__ = "members"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    visits: Mapped[int] = mapped_column(default=0)


class Basket(Base):
    __tablename__ = "baskets"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(100))
    items: Mapped[list["Item"]] = relationship(back_populates="basket", order_by="Item.id")


class Item(Base):
    __tablename__ = "items"
    id: Mapped[int] = mapped_column(primary_key=True)
    basket_id: Mapped[int] = mapped_column(ForeignKey("baskets.id"))
    name: Mapped[str] = mapped_column(String(100))
    basket: Mapped[Basket] = relationship(back_populates="items")


def introspect():
    with engine.connect() as c:
        d = c.dialect
        say(d.server_version_info, d.is_mariadb, d.default_schema_name, d._sql_mode, d._casing, c.default_isolation_level, c.get_isolation_level())
    i = inspect(engine)
    say("tables", sorted(i.get_table_names()), "views", i.get_view_names())
    say("has", i.has_table("users"), i.has_table("nothing"))
    for table in ("users", "orders"):
        say(table)
        for column in i.get_columns(table):
            say("  column", {k: repr(v) if k == "type" else v for k, v in column.items()})
        say("  primary key", i.get_pk_constraint(table))
        say("  indexes", i.get_indexes(table), i.has_index(table, "no_such_index"))
        say("  others", i.get_foreign_keys(table), i.get_unique_constraints(table), i.get_check_constraints(table))
        say("  options", i.get_table_options(table), i.get_table_comment(table))
    reflected = Table("users", MetaData(), autoload_with=engine)
    say("reflected", [repr(c) for c in reflected.columns], sorted(x.name for x in reflected.indexes))
    mapped = MetaData()
    mapped.reflect(engine)
    say("all reflected", sorted(mapped.tables))


def rows():
    with Session(engine) as s:
        say("rows: %d users, %d orders" % (s.scalar(select(func.count()).select_from(User)), s.scalar(select(func.count(Order.id)))))


def fill():
    for i in range(1, 11):
        with Session(engine) as s, s.begin():
            s.add(User(**shop.user(i)))
            s.flush()
            for o in shop.orders(i):
                s.add(Order(**o))
                s.flush()
    for i in range(11, 21):
        with Session(engine) as s, s.begin():
            s.add(User(**shop.user(i), orders=[Order(**o) for o in shop.orders(i)]))
    rows()


def read(s):
    say("user:", user_line(s.get(User, shop.user_id(5))))
    say("missing:", "none" if s.get(User, 999) is None else "found")
    say("order:", order_line(s.get(Order, shop.order_id(7, 2))))
    for u in s.scalars(select(User).where(User.id.in_([shop.user_id(14), shop.user_id(3), 999, shop.user_id(8)])).order_by(User.id)):
        say("one of several:", user_line(u))
    for page in range(4):
        users = s.scalars(select(User).where(User.country == "FR").order_by(User.name, User.id).limit(3).offset(3 * page))
        say("page %d of FR:" % page, "; ".join("%d %s" % (u.id, u.name) for u in users))
    for o in s.scalars(select(Order).order_by(Order.created.desc(), Order.id.desc()).limit(3).offset(1)):
        say("new order:", order_line(o))
    for u in s.scalars(select(User).where(User.balance > 100, User.country != "DE").order_by(User.balance.desc()).limit(3)):
        say("rich:", user_line(u))
    say("like a:", "; ".join(u.name for u in s.scalars(select(User).where(User.name.startswith("a")).order_by(User.id))))
    say("statuses:", *s.scalars(select(Order.status).distinct().order_by(Order.status)))


def aggregate(s):
    say("in PL:", s.scalar(select(func.count(User.id)).where(User.country == "PL")))
    say("balances: %.2f to %.2f" % tuple(s.execute(select(func.min(User.balance), func.max(User.balance))).one()))
    figures = select(User.country, func.count(User.id), func.sum(User.balance), func.avg(User.balance))
    for c in s.execute(figures.group_by(User.country).order_by(User.country)):
        say("country: %s %d %.2f %.4f" % tuple(c))


def join(s):
    joined = select(Order).join(Order.user).options(contains_eager(Order.user))
    for o in s.scalars(joined.where(User.id == shop.user_id(4)).order_by(Order.id)):
        say("order of one:", o.user.name, order_line(o))
    for o in s.scalars(joined.order_by(User.name, Order.id)):
        say("order of all:", o.user.name, o.id, o.status)
    spent = select(User.country, func.count(Order.id), func.sum(Order.amount)).join(User.orders)
    for c in s.execute(spent.group_by(User.country).order_by(User.country)):
        say("spent in: %s %d %.2f" % tuple(c))
    total = func.sum(Order.amount).label("total")
    for u, spent in s.execute(select(User, total).outerjoin(User.orders).group_by(User.id).order_by(total.desc(), User.id).limit(3)):
        say("most spent: %s %.2f" % (u.name, spent))
    s.expire_all()
    for u in s.scalars(select(User).where(User.country == "DE").options(selectinload(User.orders)).order_by(User.id)):
        say("loaded:", u.name, *[o.id for o in u.orders])


def change():
    with Session(engine) as s:
        u = s.get(User, shop.user_id(6), with_for_update=True)
        u.balance += 100
        u.name = "Maria II"
        s.commit()
        s.execute(update(User).where(User.id == shop.user_id(6)).values(balance=User.balance + 1), execution_options={"synchronize_session": False})
        s.commit()
        s.refresh(u)
        say("changed:", user_line(u))
    one = select(func.count()).select_from(User).where(User.id == shop.user_id(21))
    with Session(engine) as s:
        s.add(User(**shop.user(21)))
        say("inside: %d" % s.scalar(one))
        s.rollback()
        say("undone: %d" % s.scalar(one))
    with Session(engine) as s:
        s.add(User(**shop.user(1)))
        try:
            s.commit()
        except IntegrityError as e:
            say("duplicate: refused", e.orig.args[0])
    rows()


def work():
    fill()
    with Session(engine) as s:
        read(s)
        aggregate(s)
        join(s)
    change()


def many():
    with Session(engine) as s, s.begin():
        s.delete(s.get(User, shop.user_id(4)))
    rows()
    with Session(engine) as s, s.begin():
        s.execute(insert(User), [shop.user(i) for i in range(21, 27)])
        s.add_all([Order(**o) for i in range(21, 27) for o in shop.orders(i)])
    rows()
    with Session(engine) as s:
        n = s.execute(update(User).where(User.country == "DE").values(balance=User.balance + 5)).rowcount
        s.commit()
        say("raised: %d, %.2f" % (n, s.scalar(select(func.sum(User.balance)).where(User.country == "DE"))))
        o = s.get(Order, shop.order_id(9, 1))
        o.status = "returned"
        s.commit()
        s.refresh(o)
        say("changed:", order_line(o))
        s.delete(s.get(Order, shop.order_id(10, 3)))
        s.commit()
    rows()
    with Session(engine) as s:
        say("new ones deleted: %d" % s.execute(delete(Order).where(Order.status == "new")).rowcount)
        s.commit()
    rows()
    with Session(engine) as s:
        transfer(s, 11, 13)
        s.commit()
        pair("transferred:", s)
        transfer(s, 11, 13)
        s.rollback()
        pair("not again:", s)
        say("in all: %.2f" % s.scalar(select(func.sum(User.balance))))


def transfer(s, i, j):
    """Move 10 from one user to another."""
    for k, amount in ((i, -10), (j, 10)):
        s.get(User, shop.user_id(k), with_for_update=True).balance += amount
        s.flush()


def pair(what, s):
    for u in s.scalars(select(User).where(User.id.in_([shop.user_id(11), shop.user_id(13)])).order_by(User.id)):
        say(what, user_line(u))


def ids():
    Note.__table__.create(engine)
    made = []
    for i in range(1, 5):
        with Session(engine) as s, s.begin():
            n = Note(owner=i, title="note %d" % i)
            s.add(n)
            s.flush()
            made.append(n.id)
    say("made:", *made)
    with Session(engine) as s, s.begin():
        s.execute(insert(Note), [{"owner": 5, "title": title} for title in shop.TITLES])
    with Session(engine) as s:
        for n in s.scalars(select(Note).where(Note.owner == 5).order_by(Note.id)):
            say("together:", shop.note_line(n))
        for n in s.scalars(select(Note).order_by(Note.id.desc()).limit(3).offset(1)):
            say("page:", shop.note_line(n))
        s.rollback()
        s.execute(update(Note).where(Note.id == made[1], Note.owner == 2).values(title="changed"))
        s.commit()
        say("changed:", shop.note_line(s.get(Note, made[1])))
        s.rollback()
        s.execute(delete(Note).where(Note.id == made[0], Note.owner == 1))
        s.commit()
        say("left: %d" % s.scalar(select(func.count(Note.id))))
        s.rollback()
        n = Note(owner=6, title="last")
        s.add(n)
        s.commit()
        say("next:", n.id)


def refused(what, change):
    """Tell by which error a change is refused."""
    with Session(engine) as s:
        try:
            change(s)
            s.commit()
        except IntegrityError as e:
            say(what, "refused", e.orig.args[0])


def related():
    Base.metadata.create_all(engine, tables=[Basket.__table__, Item.__table__])
    made = []
    for i in range(1, 5):
        with Session(engine) as s, s.begin():
            b = Basket(title="basket %d" % i, items=[Item(name=name) for name in shop.FRUIT])
            s.add(b)
            s.flush()
            made.append(b.id)
    say("baskets:", *made)
    with Session(engine) as s:
        for b in s.scalars(select(Basket).options(selectinload(Basket.items)).order_by(Basket.id)):
            say("loaded: %s:" % b.title, ", ".join("%d %s" % (i.id, i.name) for i in b.items))
        s.expunge_all()
        i = s.get(Item, 6)
        say("item: %s of %s" % (i.name, i.basket.title))
        pears = select(Item).join(Item.basket).options(contains_eager(Item.basket)).where(Item.name == "pear").order_by(Basket.title.desc()).limit(3)
        say("pears:", "; ".join(i.basket.title for i in s.scalars(pears)))
    refused("orphan:", lambda s: s.add(Item(basket_id=99, name="plum")))
    refused("parent:", lambda s: s.execute(delete(Basket).where(Basket.id == 1)))
    with Session(engine) as s, s.begin():
        s.execute(delete(Item).where(Item.basket_id == 2))
        s.execute(delete(Basket).where(Basket.id == 2))
    with Session(engine) as s:
        say("left: %d baskets, %d items" % (s.scalar(select(func.count(Basket.id))), s.scalar(select(func.count(Item.id)))))


def members():
    Member.__table__.create(engine)
    made = []
    for email, name in shop.MEMBERS:
        with Session(engine) as s, s.begin():
            m = Member(email=email, name=name)
            s.add(m)
            s.flush()
            made.append(m.id)
    say("made:", *made)
    one = lambda s, email: s.scalars(select(Member).filter_by(email=email)).one_or_none()
    with Session(engine) as s:
        say("by e-mail:", shop.member_line(one(s, "bob@example.com")))
        say("in capitals:", shop.member_line(one(s, "BOB@example.com")))
        say("missing:", "found" if one(s, "bob@example.org") else "none")
    refused("duplicate:", lambda s: s.add(Member(email="Ana@Example.com", name="Anna")))
    several = [{"email": "eve@example.com", "name": "Eve"}, {"email": "dan@example.com", "name": "Daniel"}]
    refused("several:", lambda s: s.execute(insert(Member), several))
    with Session(engine) as s:
        say("members: %d" % s.scalar(select(func.count(Member.id))))
        s.rollback()
        m = s.get(Member, made[1])
        m.email, m.name, m.visits = "rob@example.com", "Robert", 1
        s.commit()
        say("changed:", shop.member_line(one(s, "rob@example.com")))
    refused("taken:", lambda s: setattr(s.get(Member, made[1]), "email", "cem@example.com"))
    with Session(engine) as s:
        say("before:", "found" if one(s, "bob@example.com") else "none")
        s.add(Member(email="bob@example.com", name="Bobby"))
        s.commit()
        m = one(s, "bob@example.com")
        say("again:", m.email, m.name, m.visits)
        s.rollback()
        change = upsert(Member).values([{"email": email, "name": name, "visits": visits} for email, name, visits in shop.UPSERTED])
        s.execute(change.on_duplicate_key_update(name=change.inserted.name, visits=change.inserted.visits))
        s.commit()
        for m in s.scalars(select(Member).order_by(Member.email)):
            say("upserted:", m.email, m.name, m.visits)
        say("named:", s.scalars(select(Member).where(Member.name == "Eve")).one().email)
        s.rollback()
        one(s, "cem@example.com").email = "zoe@example.com"
        s.flush()
        say("inside:", one(s, "zoe@example.com").email)
        s.rollback()
        say("undone:", s.scalars(select(Member).where(Member.name == "Cem")).one().email)
        s.rollback()
        say("raised: %d" % s.execute(update(Member).where(Member.email.in_(["ana@example.com", "eve@example.com"])).values(visits=Member.visits + 1)).rowcount)
        s.commit()
        say("deleted: %d" % s.execute(delete(Member).where(Member.email == "dan@example.com")).rowcount)
        s.commit()
        say("left: %d, %d" % tuple(s.execute(select(func.count(Member.id), func.sum(Member.visits))).one()))


shop.run({"introspect": introspect, "shop": work, "many": many, "ids": ids, "related": related, "members": members})
