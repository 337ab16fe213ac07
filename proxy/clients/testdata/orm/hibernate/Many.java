import jakarta.persistence.LockModeType;
import java.math.BigDecimal;
import java.util.List;
import org.hibernate.Session;
import org.hibernate.SessionFactory;

/** Writes to several shards at once. */
class Many {
  private final SessionFactory factory;

  Many(SessionFactory factory) {
    this.factory = factory;
  }

  void run() {
    factory.inTransaction(s -> s.remove(s.find(User.class, Data.userId(4))));
    Shop.rows(factory);
    insert();
    Shop.rows(factory);
    int raised = factory.fromTransaction(s ->
        s.createMutationQuery("update User u set u.balance = u.balance + 5 where u.country = 'DE'").executeUpdate());
    Main.out.printf("raised: %d, %.2f%n", raised, factory.fromSession(s ->
        s.createSelectionQuery("select sum(u.balance) from User u where u.country = 'DE'", BigDecimal.class).getSingleResult()));
    changeOrder();
    Shop.rows(factory);
    int gone = factory.fromTransaction(s -> s.createMutationQuery("delete from Order o where o.status = 'new'").executeUpdate());
    Main.out.println("new ones deleted: " + gone);
    Shop.rows(factory);
    transfers();
  }

  private void insert() {
    factory.inTransaction(s -> {
      for (int i = 21; i <= 26; i++) {
        User u = Data.user(i);
        u.orders.addAll(Data.orders(i, u));
        s.persist(u);
      }
    });
  }

  /** Changes one order and deletes another, each by its own id, which is not the key of the shards. */
  private void changeOrder() {
    factory.inSession(s -> {
      Order o = s.find(Order.class, Data.orderId(9, 1));
      s.beginTransaction();
      o.status = "returned";
      s.getTransaction().commit();
      s.refresh(o);
      Main.out.println("changed: " + o);
    });
    factory.inTransaction(s -> s.remove(s.find(Order.class, Data.orderId(10, 3))));
  }

  private void transfers() {
    factory.inTransaction(Many::transfer);
    pair("transferred: ");
    factory.inSession(s -> {
      s.beginTransaction();
      transfer(s);
      s.getTransaction().rollback();
    });
    pair("not again: ");
    BigDecimal sum = factory.fromSession(s -> s.createSelectionQuery("select sum(u.balance) from User u", BigDecimal.class).getSingleResult());
    Main.out.printf("in all: %.2f%n", sum);
  }

  /** Moves 10 from one user to another. */
  private static void transfer(Session s) {
    User from = s.find(User.class, Data.userId(11), LockModeType.PESSIMISTIC_WRITE);
    from.balance = from.balance.subtract(BigDecimal.TEN);
    s.flush();
    User to = s.find(User.class, Data.userId(13), LockModeType.PESSIMISTIC_WRITE);
    to.balance = to.balance.add(BigDecimal.TEN);
    s.flush();
  }

  private void pair(String what) {
    factory.inSession(s -> s.createSelectionQuery("from User u where u.id in :ids order by u.id", User.class)
        .setParameterList("ids", List.of(Data.userId(11), Data.userId(13))).list().forEach(u -> Main.out.println(what + u)));
  }
}
