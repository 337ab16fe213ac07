import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.*;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Typical work of a Java program, written to standard output as a transcript that does not depend on where it ran.
 *
 * <p>usage: Work DRIVER HOST PORT CA DATABASE with DRIVER mysql or mariadb
 */
public class Work {
  static String driver, address, ca, database;

  interface Task {
    void run() throws Exception;
  }

  static void say(String text) {
    System.out.println(text.replace("\r", "\\r"));
  }

  static String shorten(Object v) throws Exception {
    if (v instanceof byte[] b) {
      return b.length > 100 ? "bytes of " + b.length + ", " + md5(b) : "bytes " + HexFormat.of().formatHex(b);
    }
    if (v instanceof String s && s.length() > 200) return "string of " + s.length() + ", " + md5(s.getBytes("UTF-8"));
    if (v instanceof Blob b) return shorten(b.getBytes(1, (int) b.length()));
    return v == null ? "NULL" : v.getClass().getSimpleName() + " " + v;
  }

  static String md5(byte[] b) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(b));
  }

  static void show(ResultSet rs) throws Exception {
    ResultSetMetaData m = rs.getMetaData();
    List<String> columns = new ArrayList<>();
    for (int k = 1; k <= m.getColumnCount(); k++) {
      columns.add(m.getColumnLabel(k) + " " + m.getColumnTypeName(k) + " " + m.getPrecision(k) + " " + m.isNullable(k) + " " + m.getTableName(k));
    }
    say("  columns " + columns);
    while (rs.next()) {
      List<String> values = new ArrayList<>();
      for (int k = 1; k <= m.getColumnCount(); k++) values.add(shorten(rs.getObject(k)));
      say("  row " + values);
    }
  }

  /** Shows every result of a statement that was just executed. */
  static void results(Statement s, boolean isRows) throws Exception {
    while (true) {
      if (isRows) {
        try (ResultSet rs = s.getResultSet()) {
          show(rs);
        }
      } else {
        if (s.getUpdateCount() < 0) break;
        say("  count " + s.getUpdateCount());
      }
      isRows = s.getMoreResults();
    }
    for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) {
      say("  warning " + w.getErrorCode() + " " + w.getSQLState() + " " + w.getMessage());
    }
  }

  static void attempt(String what, Task task) throws Exception {
    say(what);
    try {
      task.run();
    } catch (SQLException e) {
      String message = e.getMessage().replaceFirst("^\\(conn=\\d+\\) ", "");
      say("  error " + e.getClass().getSimpleName() + " " + e.getErrorCode() + " " + e.getSQLState() + " " + message);
    }
  }

  static void run(Connection c, String sql, Object... values) throws Exception {
    attempt(sql, () -> {
      if (values.length == 0) {
        try (Statement s = c.createStatement()) {
          results(s, s.execute(sql));
        }
        return;
      }
      try (PreparedStatement s = c.prepareStatement(sql)) {
        for (int k = 0; k < values.length; k++) s.setObject(k + 1, values[k]);
        results(s, s.execute());
      }
    });
  }

  static Connection connect(String options) throws SQLException {
    return connect("root", "root", database, options);
  }

  static Connection connect(String user, String password, String db, String options) throws SQLException {
    String plain = options.contains("sslMode") ? "" : driver.equals("mysql") ? "&sslMode=DISABLED" : "&sslMode=disable";
    return DriverManager.getConnection("jdbc:" + driver + "://" + address + "/" + db + "?user=" + user + "&password=" + password
        + "&allowPublicKeyRetrieval=true&connectionTimeZone=UTC&useServerPrepStmts=" + options + plain);
  }

  static void connections() throws Exception {
    say("== connections");
    String tls = driver.equals("mysql") ? "&sslMode=REQUIRED" : "&sslMode=verify-full&serverSslCert=" + ca;
    for (String options : new String[] {"false", "false" + tls}) {
      try (Connection c = connect(options)) {
        DatabaseMetaData m = c.getMetaData();
        say(m.getDatabaseProductName() + " " + m.getDatabaseProductVersion() + " " + m.getUserName().replaceFirst("@.*", ""));
        run(c, "SELECT 1+1 AS two, DATABASE() AS db");
        say("valid " + c.isValid(5) + ", catalog " + c.getCatalog());
      }
    }
    attempt("wrong password", () -> connect("root", "wrong", database, "false").close());
    attempt("no such database", () -> connect("root", "root", "no_such_db", "false").close());
  }

  static final String[][] COLUMNS = {
    {"t", "TINYINT"}, {"tu", "TINYINT UNSIGNED"}, {"b1", "TINYINT(1)"}, {"s", "SMALLINT"}, {"m", "MEDIUMINT"}, {"i", "INT"}, {"l", "BIGINT"},
    {"lu", "BIGINT UNSIGNED"}, {"f", "FLOAT"}, {"d", "DOUBLE"}, {"n", "DECIMAL(30,10)"}, {"da", "DATE"}, {"ti", "TIME(6)"}, {"dt", "DATETIME(6)"},
    {"ts", "TIMESTAMP(3) NULL"}, {"y", "YEAR"}, {"c", "CHAR(10)"}, {"v", "VARCHAR(100)"}, {"vb", "VARBINARY(100)"}, {"bl", "BLOB"},
    {"tx", "MEDIUMTEXT"}, {"e", "ENUM('a','b')"}, {"st", "SET('a','b','c')"}, {"bi", "BIT(12)"}, {"j", "LONGTEXT"},
  };

  static final Object[][] VALUES = {
    {-128, 255, true, -32768, -8388608, Integer.MIN_VALUE, Long.MIN_VALUE, new BigDecimal("18446744073709551615"), 1.5f, 1e300,
      new BigDecimal("12345678901234567890.0123456789"), Date.valueOf("2024-02-29"), Time.valueOf("23:59:58"),
      Timestamp.valueOf("2024-02-29 23:59:59.123456"), Timestamp.valueOf("2024-03-01 12:00:00.5"), 2024, "ab",
      "smile \uD83D\uDE00 \u00e4\u00f6\u00fc \u65e5\u672c", new byte[] {0, 1, -2, -1}, new byte[1024], "x".repeat(70000), "a", "a,c",
      new byte[] {10, -68}, "{\"a\": [1, 2, null]}"},
    {127, 0, false, 32767, 8388607, Integer.MAX_VALUE, Long.MAX_VALUE, 0, -0.25f, -2.5e-300, new BigDecimal("-0.1"), Date.valueOf("1970-01-01"),
      Time.valueOf("00:00:00"), Timestamp.valueOf("1970-01-02 00:00:00"), Timestamp.valueOf("1999-12-31 00:00:00"), 1901, "",
      "quote ' \" \\ \n \0 %", new byte[0], new byte[1], "", "b", "", new byte[] {0, 1}, "[]"},
    new Object[25],
  };

  static void types(Connection c, String name) throws Exception {
    say("== types, " + name);
    List<String> definitions = new ArrayList<>(), names = new ArrayList<>();
    for (String[] column : COLUMNS) {
      definitions.add(column[0] + " " + column[1]);
      names.add(column[0]);
    }
    run(c, "DROP TABLE IF EXISTS types");
    run(c, "CREATE TABLE types (id INT PRIMARY KEY AUTO_INCREMENT, " + String.join(", ", definitions) + ")");
    String insert = "INSERT INTO types (" + String.join(", ", names) + ") VALUES (" + String.join(", ", Arrays.asList("?".repeat(25).split(""))) + ")";
    for (int round = 0; round < 2; round++) {
      for (Object[] values : VALUES) {
        attempt("insert", () -> {
          try (PreparedStatement s = c.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
            for (int k = 0; k < values.length; k++) s.setObject(k + 1, values[k]);
            say("  count " + s.executeUpdate());
            try (ResultSet keys = s.getGeneratedKeys()) {
              while (keys.next()) say("  key " + keys.getLong(1));
            }
          }
        });
      }
    }
    run(c, "SELECT * FROM types ORDER BY id");
    for (int id : new int[] {1, 4, 9}) run(c, "SELECT * FROM types WHERE id >= ? ORDER BY id", id);
    run(c, "SELECT id, v FROM types WHERE v LIKE ? AND (i = ? OR n > ?) AND dt > ?", "%\u65e5%", 1, new BigDecimal("0.5"), Timestamp.valueOf("2000-01-01 00:00:00"));
    run(c, "SELECT nope FROM types WHERE id = ?", 1);
    run(c, "SELECT ? + ?, ?", 1, 2.5, "\u00e9");
    attempt("streams", () -> {
      try (PreparedStatement s = c.prepareStatement("INSERT INTO types (bl, tx) VALUES (?, ?)")) {
        s.setBinaryStream(1, new ByteArrayInputStream(new byte[60000]), 60000);
        s.setCharacterStream(2, new StringReader("z".repeat(90000)));
        say("  count " + s.executeUpdate());
      }
    });
    run(c, "SELECT LENGTH(bl), LENGTH(tx), SHA2(tx, 256) FROM types WHERE id = 7");
  }

  static void transactions(Connection c) throws Exception {
    say("== transactions");
    run(c, "CREATE TABLE tx (id INT PRIMARY KEY, v INT)");
    c.setAutoCommit(false);
    c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    say("isolation " + c.getTransactionIsolation());
    run(c, "INSERT INTO tx VALUES (1, 10), (2, 20)");
    Savepoint p = c.setSavepoint("one");
    run(c, "UPDATE tx SET v = v + ? WHERE id = ?", 5, 1);
    c.rollback(p);
    c.releaseSavepoint(p);
    c.commit();
    run(c, "SELECT * FROM tx ORDER BY id");
    run(c, "INSERT INTO tx VALUES (1, 1)");
    run(c, "DELETE FROM tx");
    c.rollback();
    run(c, "SELECT COUNT(*) FROM tx");
    c.setReadOnly(true);
    run(c, "DELETE FROM tx");
    c.setReadOnly(false);
    c.commit();
    c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    c.setAutoCommit(true);
    run(c, "SELECT COUNT(*), @@autocommit FROM tx");
  }

  static void batches(Connection c, String name) throws Exception {
    say("== batches, " + name);
    run(c, "DROP TABLE IF EXISTS batch");
    run(c, "CREATE TABLE batch (id INT PRIMARY KEY AUTO_INCREMENT, k INT UNIQUE, v VARCHAR(50))");
    try (PreparedStatement s = c.prepareStatement("INSERT INTO batch (k, v) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
      for (int k = 0; k < 500; k++) {
        s.setInt(1, k);
        if (k % 7 == 0) s.setNull(2, Types.VARCHAR);
        else s.setString(2, "value " + k + " \u00e4");
        s.addBatch();
      }
      say("batch of " + s.executeBatch().length);
      int keys = 0;
      try (ResultSet rs = s.getGeneratedKeys()) {
        while (rs.next()) keys++;
      }
      say("keys " + keys);
    }
    run(c, "SELECT COUNT(*), SUM(k), COUNT(v) FROM batch");
    attempt("batch with a duplicate", () -> {
      try (Statement s = c.createStatement()) {
        s.addBatch("INSERT INTO batch (k) VALUES (1000)");
        s.addBatch("INSERT INTO batch (k) VALUES (1)");
        s.addBatch("UPDATE batch SET v = 'x' WHERE k < 10");
        try {
          s.executeBatch();
        } catch (BatchUpdateException e) {
          say("  counts " + Arrays.toString(e.getUpdateCounts()));
          throw e;
        }
      }
    });
    run(c, "SELECT COUNT(*), LAST_INSERT_ID() > 0 FROM batch");
  }

  static void procedures(Connection c) throws Exception {
    say("== procedures");
    run(c, "CREATE PROCEDURE p1(IN a INT, OUT b INT, INOUT s VARCHAR(20)) BEGIN SELECT a AS first; SELECT a + 1 AS second UNION SELECT 7; SET b = a * 2; SET s = CONCAT(s, '!'); END");
    attempt("call p1", () -> {
      try (CallableStatement s = c.prepareCall("{call p1(?, ?, ?)}")) {
        s.setInt(1, 21);
        s.registerOutParameter(2, Types.INTEGER);
        s.setString(3, "hi");
        s.registerOutParameter(3, Types.VARCHAR);
        results(s, s.execute());
        say("  out " + s.getInt(2) + " " + s.getString(3));
      }
    });
    run(c, "CREATE FUNCTION f1(a INT) RETURNS INT DETERMINISTIC RETURN a * 3");
    attempt("call f1", () -> {
      try (CallableStatement s = c.prepareCall("{? = call f1(?)}")) {
        s.registerOutParameter(1, Types.INTEGER);
        s.setInt(2, 14);
        s.execute();
        say("  result " + s.getInt(1));
      }
    });
    run(c, "CREATE PROCEDURE p2() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own', MYSQL_ERRNO = 31000; END");
    run(c, "CALL p2()");
    run(c, "SELECT 1");
  }

  static void several() throws Exception {
    say("== several statements");
    try (Connection c = connect("false&allowMultiQueries=true")) {
      run(c, "CREATE TABLE multi (id INT); INSERT INTO multi VALUES (1), (2); SELECT COUNT(*) FROM multi; UPDATE multi SET id = 9");
      run(c, "SELECT ';' AS a; SELECT nope; SELECT 3");
      run(c, "SELECT 4");
    }
    try (Connection c = connect("false")) {
      try (Statement s = c.createStatement()) {
        s.execute("SELECT 1; SELECT 2");
        say("several statements ran");
      } catch (SQLException e) {
        say("refused " + e.getErrorCode());
      }
    }
  }

  static void blobs(Connection c) throws Exception {
    say("== blobs");
    run(c, "DROP TABLE IF EXISTS blobs");
    run(c, "CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)");
    for (int size : new int[] {0, 1, (1 << 24) - 1, 1 << 24, 20 << 20}) {
      byte[] data = new byte[size];
      for (int k = 0; k < size; k++) data[k] = (byte) (k * 7 + k / 256);
      run(c, "INSERT INTO blobs VALUES (?, ?)", size, data);
    }
    run(c, "SELECT id, LENGTH(b), SHA2(b, 256) FROM blobs ORDER BY id");
    run(c, "SELECT id, b FROM blobs WHERE id > ? ORDER BY id", -1);
    attempt("read as a stream", () -> {
      try (Statement s = c.createStatement(); ResultSet rs = s.executeQuery("SELECT b FROM blobs ORDER BY id DESC LIMIT 1")) {
        rs.next();
        try (InputStream in = rs.getBinaryStream(1)) {
          say("  " + shorten(in.readAllBytes()));
        }
      }
    });
  }

  static void streaming(Connection c, String name, int fetchSize) throws Exception {
    say("== streaming, " + name);
    for (String sql : new String[] {"SELECT a.k, REPEAT('x', 100) FROM batch a JOIN batch b ON b.k < ?", "SELECT k, v FROM batch WHERE k < ? ORDER BY k"}) {
      try (PreparedStatement s = c.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
        s.setFetchSize(fetchSize);
        for (int limit : new int[] {20, 3}) {
          s.setInt(1, limit);
          long n = 0, sum = 0;
          try (ResultSet rs = s.executeQuery()) {
            while (rs.next()) {
              n++;
              sum += rs.getInt(1) + (rs.getString(2) == null ? 0 : rs.getString(2).length());
            }
          }
          say("  " + n + " rows, " + sum);
        }
      }
    }
    run(c, "SELECT 'after'");
  }

  static void errors(Connection c) throws Exception {
    say("== errors and warnings");
    run(c, "SET SESSION sql_mode = ''");
    run(c, "CREATE TABLE w (v TINYINT)");
    run(c, "INSERT INTO w VALUES (1000)");
    run(c, "SET SESSION sql_mode = DEFAULT");
    for (String sql : new String[] {"INSERT INTO w VALUES (1000)", "SELEC 1", "SELECT * FROM no_such_table", "USE no_such_database", "INSERT INTO tx VALUES (1, 1)",
        "CALL no_such_procedure()", "SELECT 1/0", "KILL 99999999", "SELECT (SELECT k FROM batch)", "DROP TABLE IF EXISTS not_there"}) {
      run(c, sql);
    }
  }

  static void catalogue(Connection c) throws Exception {
    say("== catalogue");
    // Without rows: the cardinality of an index is an estimate that changes by itself.
    run(c, "CREATE TABLE keyed (id INT PRIMARY KEY, k INT, KEY k_key (k))");
    for (String sql : new String[] {"SHOW TABLES", "SHOW FULL COLUMNS FROM tx", "SHOW CREATE TABLE tx", "SHOW INDEX FROM keyed",
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1", "EXPLAIN SELECT 1"}) {
      run(c, sql);
    }
    DatabaseMetaData m = c.getMetaData();
    for (ResultSet rs : new ResultSet[] {m.getTables(database, null, "%", null), m.getColumns(database, null, "tx", "%"), m.getPrimaryKeys(database, null, "batch"),
        m.getIndexInfo(database, null, "keyed", false, false), m.getProcedures(database, null, "p%")}) {
      show(rs);
      rs.close();
    }
  }

  static void sessions() throws Exception {
    say("== sessions");
    try (Connection c = connect("false")) {
      run(c, "SET @a = 'kept', time_zone = '+05:30'");
      run(c, "SELECT @a, @@time_zone");
      run(c, "CREATE TEMPORARY TABLE own (id INT)");
      run(c, "INSERT INTO own VALUES (1)");
      run(c, "SELECT GET_LOCK('java', 1)");
      c.setCatalog("information_schema");
      run(c, "SELECT DATABASE()");
      c.setCatalog(database);
      run(c, "SELECT COUNT(*) FROM own");
      run(c, "SET NAMES latin1");
      run(c, "SELECT @@character_set_client");
      c.setClientInfo("ApplicationName", "work");
      attempt("a query that takes too long", () -> {
        try (Statement s = c.createStatement()) {
          s.setQueryTimeout(1);
          results(s, s.execute("SELECT SLEEP(10) FROM tx"));
        }
      });
      run(c, "SELECT 'after'");
    }
  }

  static void files() throws Exception {
    say("== files");
    Path file = Files.createTempFile("ks", ".csv");
    StringBuilder b = new StringBuilder();
    for (int k = 0; k < 3000; k++) b.append(k).append(",line ").append(k).append('\n');
    Files.writeString(file, b);
    try (Connection c = connect("false&allowLoadLocalInfile=true&allowLocalInfile=true")) {
      run(c, "CREATE TABLE loaded (id INT, v VARCHAR(50))");
      attempt("load", () -> {
        try (Statement s = c.createStatement()) {
          say("  count " + s.executeUpdate("LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE loaded FIELDS TERMINATED BY ','"));
        }
      });
      run(c, "SELECT COUNT(*), SUM(id), MAX(v) FROM loaded");
    }
    Files.delete(file);
  }

  public static void main(String[] args) throws Exception {
    System.setOut(new java.io.PrintStream(System.out, true, "UTF-8"));
    driver = args[0];
    address = args[1] + ":" + args[2];
    ca = args[3];
    database = args[4];
    connections();
    String several = driver.equals("mysql") ? "&rewriteBatchedStatements=true" : "&useBulkStmts=true";
    for (String options : new String[] {"false", "true&cachePrepStmts=true", "true" + several + "&useCompression=true", "true&useCursorFetch=true"}) {
      try (Connection c = connect(options)) {
        types(c, options);
        batches(c, options);
        streaming(c, options, options.contains("useCursorFetch") || driver.equals("mariadb") ? 50 : Integer.MIN_VALUE);
        if (options.equals("false")) {
          transactions(c);
          procedures(c);
          errors(c);
          catalogue(c);
        }
        if (options.equals("false") || options.contains("useCursorFetch")) blobs(c);
      }
    }
    several();
    sessions();
    files();
    say("done");
  }
}
