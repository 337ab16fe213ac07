import jakarta.persistence.LockModeType;
import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Collectors;
import org.hibernate.Session;
import org.hibernate.SessionFactory;

/** Creates, reads and changes; each of its writes is one shard's. */
class Shop {
  private final SessionFactory factory;

  Shop(SessionFactory factory) {
    this.factory = factory;
  }

  void run() {
    insert();
    factory.inSession(s -> {
      read(s);
      aggregate(s);
      join(s);
    });
    change();
    undo();
    duplicate();
    rows(factory);
  }

  static void rows(SessionFactory factory) {
    factory.inSession(s -> Main.out.printf("rows: %d users, %d orders%n", s.createSelectionQuery("select count(*) from User", Long.class).getSingleResult(),
        s.createSelectionQuery("select count(o.id) from Order o", Long.class).getSingleResult()));
  }

  private void insert() {
    for (int n = 1; n <= 20; n++) {
      int i = n;
      factory.inTransaction(s -> {
        User u = Data.user(i);
        s.persist(u);
        if (i > 10) {
          u.orders.addAll(Data.orders(i, u));
          return;
        }
        for (Order o : Data.orders(i, u)) {
          s.persist(o);
          s.flush();
        }
      });
    }
    rows(factory);
  }

  private static void read(Session s) {
    Main.out.println("user: " + s.find(User.class, Data.userId(5)));
    Main.out.println("missing: " + (s.find(User.class, 999L) == null ? "none" : "found"));
    Main.out.println("order: " + s.find(Order.class, Data.orderId(7, 2)));
    s.createSelectionQuery("from User u where u.id in :ids order by u.id", User.class)
        .setParameterList("ids", List.of(Data.userId(14), Data.userId(3), 999L, Data.userId(8))).list()
        .forEach(u -> Main.out.println("one of several: " + u));
    for (int page = 0; page < 4; page++) {
      Main.out.println("page " + page + " of FR: " + s.createSelectionQuery("from User u where u.country = :c order by u.name, u.id", User.class)
          .setParameter("c", "FR").setFirstResult(3 * page).setMaxResults(3).stream().map(u -> u.getId() + " " + u.getName()).collect(Collectors.joining("; ")));
    }
    s.createSelectionQuery("from Order o order by o.created desc, o.id desc", Order.class).setFirstResult(1).setMaxResults(3).list()
        .forEach(o -> Main.out.println("new order: " + o));
    s.createSelectionQuery("from User u where u.balance > :b and u.country <> 'DE' order by u.balance desc", User.class)
        .setParameter("b", new BigDecimal(100)).setMaxResults(3).list().forEach(u -> Main.out.println("rich: " + u));
    Main.out.println("like a: " + String.join("; ",
        s.createSelectionQuery("select u.name from User u where u.name like :p order by u.id", String.class).setParameter("p", "a%").list()));
    Main.out.println("statuses: " + String.join(" ",
        s.createSelectionQuery("select distinct o.status from Order o order by o.status", String.class).list()));
  }

  private static void aggregate(Session s) {
    Main.out.println("in PL: " + s.createSelectionQuery("select count(u) from User u where u.country = 'PL'", Long.class).getSingleResult());
    Object[] b = s.createSelectionQuery("select min(u.balance), max(u.balance) from User u", Object[].class).getSingleResult();
    Main.out.printf("balances: %.2f to %.2f%n", b);
    s.createSelectionQuery("select u.country, count(u), sum(u.balance), avg(u.balance) from User u group by u.country order by u.country", Object[].class)
        .list().forEach(c -> Main.out.printf("country: %s %d %.2f %.4f%n", c));
  }

  private static void join(Session s) {
    s.createSelectionQuery("from Order o join fetch o.user u where u.id = :id order by o.id", Order.class).setParameter("id", Data.userId(4)).list()
        .forEach(o -> Main.out.println("order of one: " + o.user.getName() + " " + o));
    s.createSelectionQuery("from Order o join fetch o.user u order by u.name, o.id", Order.class).list()
        .forEach(o -> Main.out.println("order of all: " + o.user.getName() + " " + o.id + " " + o.status));
    s.createSelectionQuery("select u.country, count(o), sum(o.amount) from User u join u.orders o group by u.country order by u.country", Object[].class)
        .list().forEach(c -> Main.out.printf("spent in: %s %d %.2f%n", c));
    s.createSelectionQuery("select u.name, sum(o.amount) from User u left join u.orders o group by u.id, u.name order by sum(o.amount) desc, u.id", Object[].class)
        .setMaxResults(3).list().forEach(c -> Main.out.printf("most spent: %s %.2f%n", c));
    s.clear();
    s.createSelectionQuery("from User u where u.country = 'DE' order by u.id", User.class).list().forEach(u -> Main.out.println(
        "loaded: " + u.getName() + u.getOrders().stream().map(o -> " " + o.id).collect(Collectors.joining())));
  }

  private void change() {
    factory.inTransaction(s -> {
      User u = s.find(User.class, Data.userId(6), LockModeType.PESSIMISTIC_WRITE);
      u.balance = u.balance.add(new BigDecimal(100));
      u.name = "Maria II";
    });
    factory.inTransaction(s -> {
      User u = s.find(User.class, Data.userId(6));
      s.createMutationQuery("update User u set u.balance = u.balance + 1 where u.id = :id").setParameter("id", u.id).executeUpdate();
      s.refresh(u);
      Main.out.println("changed: " + u);
    });
  }

  private void undo() {
    String count = "select count(u) from User u where u.id = " + Data.userId(21);
    factory.inSession(s -> {
      var transaction = s.beginTransaction();
      s.persist(Data.user(21));
      Main.out.println("inside: " + s.createSelectionQuery(count, Long.class).getSingleResult());
      transaction.rollback();
      Main.out.println("undone: " + s.createSelectionQuery(count, Long.class).getSingleResult());
    });
  }

  private void duplicate() {
    try {
      factory.inTransaction(s -> s.persist(Data.user(1)));
    } catch (org.hibernate.exception.ConstraintViolationException e) {
      Main.out.println("duplicate: refused " + e.getErrorCode());
    }
  }
}
