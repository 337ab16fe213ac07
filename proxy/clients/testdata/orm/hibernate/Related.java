import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.exception.ConstraintViolationException;

/** Fills tables of which one refers to the other. */
class Related {
  private final SessionFactory factory;

  Related(SessionFactory factory) {
    this.factory = factory;
  }

  void run() {
    List<Basket> made = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      Basket b = new Basket("basket " + i, "apple", "pear");
      factory.inTransaction(s -> s.persist(b));
      made.add(b);
    }
    Main.out.println("baskets:" + made.stream().map(b -> " " + b.id).collect(Collectors.joining()));
    factory.inSession(Related::read);
    refused("orphan:", () -> factory.inTransaction(s -> s.persist(new Item(s.getReference(Basket.class, 99L), "plum"))));
    refused("parent:", () -> factory.inTransaction(s -> s.createMutationQuery("delete from Basket b where b.id = 1").executeUpdate()));
    factory.inTransaction(s -> {
      s.createMutationQuery("delete from Item i where i.basket.id = 2").executeUpdate();
      s.remove(s.find(Basket.class, 2L));
    });
    factory.inSession(s -> Main.out.printf("left: %d baskets, %d items%n",
        s.createSelectionQuery("select count(b) from Basket b", Long.class).getSingleResult(),
        s.createSelectionQuery("select count(i) from Item i", Long.class).getSingleResult()));
  }

  private static void read(Session s) {
    s.createSelectionQuery("from Basket b join fetch b.items order by b.id", Basket.class).list().forEach(b -> Main.out.println(
        "loaded: " + b.title + ": " + b.items.stream().map(i -> i.id + " " + i.name).collect(Collectors.joining(", "))));
    s.clear();
    Item i = s.find(Item.class, 6L);
    Main.out.println("item: " + i.name + " of " + i.basket.getTitle());
    Main.out.println("pears: " + s.createSelectionQuery("from Item i join fetch i.basket b where i.name = 'pear' order by b.title desc", Item.class)
        .setMaxResults(3).stream().map(p -> p.basket.getTitle()).collect(Collectors.joining("; ")));
  }

  /** Tells by which error a change is refused. */
  static void refused(String what, Runnable change) {
    try {
      change.run();
    } catch (ConstraintViolationException e) {
      Main.out.println(what + " refused " + e.getErrorCode());
    }
  }
}
