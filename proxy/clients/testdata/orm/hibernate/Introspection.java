import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.hibernate.SessionFactory;
import org.hibernate.engine.jdbc.spi.JdbcServices;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.tool.schema.spi.SchemaManagementException;

/** What Hibernate and its JDBC driver find in the schema. */
class Introspection {
  /** Columns of metadata that say how many rows a table or an index has, about. */
  private static final Set<String> ESTIMATES = Set.of("CARDINALITY", "PAGES");

  static void run(String url) {
    try (SessionFactory f = Main.open(url, User.class, Order.class)) {
      var dialect = f.unwrap(SessionFactoryImplementor.class).getServiceRegistry().getService(JdbcServices.class).getDialect();
      Main.out.println("dialect " + dialect.getClass().getSimpleName() + " " + dialect.getVersion());
      f.inSession(s -> s.doWork(Introspection::metadata));
    }
    try (SessionFactory f = Main.open(url, User.class, Absent.class, Order.class)) {
      Main.out.println("the absent table was not missed");
    } catch (SchemaManagementException e) {
      Main.out.println("refused: " + e.getMessage());
    }
  }

  private static void metadata(Connection c) throws SQLException {
    DatabaseMetaData m = c.getMetaData();
    Main.out.println(m.getDatabaseProductName() + " " + m.getDatabaseProductVersion() + " isolation " + c.getTransactionIsolation());
    String db = c.getCatalog();
    show("tables", m.getTables(db, null, "%", new String[] {"TABLE"}));
    for (String table : new String[] {"users", "orders"}) {
      show("columns", m.getColumns(db, null, table, "%"));
      show("primary key", m.getPrimaryKeys(db, null, table));
      show("indexes", m.getIndexInfo(db, null, table, false, true));
      show("imported keys", m.getImportedKeys(db, null, table));
      show("best row identifier", m.getBestRowIdentifier(db, null, table, DatabaseMetaData.bestRowSession, false));
    }
  }

  private static void show(String what, ResultSet rows) throws SQLException {
    ResultSetMetaData m = rows.getMetaData();
    while (rows.next()) {
      List<String> values = new ArrayList<>();
      for (int k = 1; k <= m.getColumnCount(); k++) {
        if (!ESTIMATES.contains(m.getColumnLabel(k))) values.add(rows.getString(k));
      }
      Main.out.println(what + " " + values);
    }
    rows.close();
  }
}
