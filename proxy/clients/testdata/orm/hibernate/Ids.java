import java.util.List;
import org.hibernate.SessionFactory;

/** Makes a table by Hibernate's own definition, and leaves the ids to it. */
class Ids {
  private final SessionFactory factory;

  Ids(SessionFactory factory) {
    this.factory = factory;
  }

  void run() {
    StringBuilder made = new StringBuilder("made:");
    for (int i = 1; i <= 4; i++) {
      Note n = new Note(i, "note " + i);
      factory.inTransaction(s -> s.persist(n));
      made.append(" ").append(n.id);
    }
    Main.out.println(made);
    List<Note> together = List.of(new Note(5, "one"), new Note(5, "two"), new Note(5, "three"));
    factory.inTransaction(s -> together.forEach(s::persist));
    together.forEach(n -> Main.out.println("together: " + n));
    factory.inSession(s -> s.createSelectionQuery("from Note n order by n.id desc", Note.class).setFirstResult(1).setMaxResults(3).list()
        .forEach(n -> Main.out.println("page: " + n)));
    factory.inSession(s -> {
      Note n = s.find(Note.class, 2L);
      s.beginTransaction();
      n.title = "changed";
      s.getTransaction().commit();
      s.refresh(n);
      Main.out.println("changed: " + n);
    });
    factory.inTransaction(s -> s.remove(s.find(Note.class, 1L)));
    Main.out.println("left: " + factory.fromSession(s -> s.createSelectionQuery("select count(n) from Note n", Long.class).getSingleResult()));
    Note last = new Note(6, "last");
    factory.inTransaction(s -> s.persist(last));
    Main.out.println("next: " + last.id);
  }
}
