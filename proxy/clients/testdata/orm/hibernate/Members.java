import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.hibernate.Session;
import org.hibernate.SessionFactory;

/** Fills a table in which each e-mail address is there once. */
class Members {
  private static final String[][] MEMBERS = {{"ana@example.com", "Ana"}, {"bob@example.com", "Bob"}, {"cem@example.com", "Cem"}, {"dan@example.com", "Dan"}};

  private final SessionFactory factory;

  Members(SessionFactory factory) {
    this.factory = factory;
  }

  void run() {
    List<Member> made = new ArrayList<>();
    for (String[] row : MEMBERS) {
      Member m = new Member(row[0], row[1]);
      factory.inTransaction(s -> s.persist(m));
      made.add(m);
    }
    Main.out.println("made:" + made.stream().map(m -> " " + m.id).collect(Collectors.joining()));
    factory.inSession(s -> {
      Main.out.println("by e-mail: " + one(s, "email", "bob@example.com"));
      Main.out.println("in capitals: " + one(s, "email", "BOB@example.com"));
      Main.out.println("missing: " + (one(s, "email", "bob@example.org") == null ? "none" : "found"));
    });
    Related.refused("duplicate:", () -> factory.inTransaction(s -> s.persist(new Member("Ana@Example.com", "Anna"))));
    Related.refused("several:", () -> factory.inTransaction(s -> {
      s.persist(new Member("eve@example.com", "Eve"));
      s.persist(new Member("dan@example.com", "Daniel"));
    }));
    factory.inSession(s -> Main.out.println("members: " + s.createSelectionQuery("select count(m) from Member m", Long.class).getSingleResult()));
    factory.inTransaction(s -> {
      Member m = one(s, "email", "bob@example.com");
      m.email = "rob@example.com";
      m.name = "Robert";
      m.visits = 1;
    });
    factory.inSession(s -> Main.out.println("changed: " + one(s, "email", "rob@example.com")));
    Related.refused("taken:", () -> factory.inTransaction(s -> one(s, "email", "rob@example.com").email = "cem@example.com"));
    factory.inSession(s -> Main.out.println("before: " + (one(s, "email", "bob@example.com") == null ? "none" : "found")));
    factory.inTransaction(s -> s.persist(new Member("bob@example.com", "Bobby")));
    factory.inSession(s -> Main.out.println("again: " + line(one(s, "email", "bob@example.com"))));
    // Hibernate's own upsert goes by the id.
    factory.inTransaction(s -> s.createNativeMutationQuery("INSERT INTO members (email, name, visits) VALUES (:a, 'Rob', 5), (:b, 'Eve', 1), (:c, 'Bobby', 7)"
        + " ON DUPLICATE KEY UPDATE name = VALUES(name), visits = VALUES(visits)")
        .setParameter("a", "rob@example.com").setParameter("b", "eve@example.com").setParameter("c", "bob@example.com").executeUpdate());
    factory.inSession(s -> {
      s.createSelectionQuery("from Member m order by m.email", Member.class).list().forEach(m -> Main.out.println("upserted: " + line(m)));
      Main.out.println("named: " + one(s, "name", "Eve").email);
    });
    factory.inSession(s -> {
      s.beginTransaction();
      one(s, "email", "cem@example.com").email = "zoe@example.com";
      s.flush();
      Main.out.println("inside: " + one(s, "email", "zoe@example.com").email);
      s.getTransaction().rollback();
    });
    factory.inSession(s -> Main.out.println("undone: " + one(s, "name", "Cem").email));
    factory.inTransaction(s -> Main.out.println("raised: " + s.createMutationQuery("update Member m set m.visits = m.visits + 1 where m.email in :emails")
        .setParameter("emails", List.of("ana@example.com", "eve@example.com")).executeUpdate()));
    factory.inTransaction(s -> Main.out.println("deleted: " + s.createMutationQuery("delete from Member m where m.email = :email")
        .setParameter("email", "dan@example.com").executeUpdate()));
    factory.inSession(s -> Main.out.printf("left: %d, %d%n",
        s.createSelectionQuery("select count(m) from Member m", Long.class).getSingleResult(),
        s.createSelectionQuery("select sum(m.visits) from Member m", Long.class).getSingleResult()));
  }

  private static Member one(Session s, String column, String value) {
    return s.createSelectionQuery("from Member m where m." + column + " = :value", Member.class).setParameter("value", value).getSingleResultOrNull();
  }

  private static String line(Member m) {
    return m.email + " " + m.name + " " + m.visits;
  }
}
