import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/**
 * A shop written with Hibernate.
 *
 * <p>usage: Main URL, the database's for JDBC
 */
public class Main {
  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  interface Step {
    void run() throws Exception;
  }

  private static boolean failed;

  static void step(String name, Step step) {
    out.println("== " + name);
    try {
      step.run();
    } catch (Exception e) {
      failed = true;
      out.println("failed: " + e);
      e.printStackTrace();
    }
  }

  /** Connects, and compares the tables with the classes. */
  static SessionFactory open(String url, Class<?>... entities) {
    return open(url, "validate", entities);
  }

  /** Connects, and does with the tables what hibernate.hbm2ddl.auto says. */
  static SessionFactory open(String url, String tables, Class<?>... entities) {
    Configuration c = new Configuration();
    c.setProperty("hibernate.connection.url", url);
    c.setProperty("hibernate.connection.username", "root");
    c.setProperty("hibernate.connection.password", "root");
    c.setProperty("hibernate.hbm2ddl.auto", tables);
    c.setProperty("hibernate.jdbc.batch_size", "10");
    for (Class<?> entity : entities) c.addAnnotatedClass(entity);
    return c.buildSessionFactory();
  }

  public static void main(String[] args) {
    step("introspect", () -> Introspection.run(args[0]));
    try (SessionFactory f = open(args[0], User.class, Order.class)) {
      step("shop", () -> new Shop(f).run());
      step("many", () -> new Many(f).run());
    }
    try (SessionFactory f = open(args[0], "create", Note.class, Basket.class, Item.class, Member.class)) {
      step("ids", () -> new Ids(f).run());
      step("related", () -> new Related(f).run());
      step("members", () -> new Members(f).run());
    }
    System.exit(failed ? 1 : 0);
  }
}
