"""Typical work of a Python program, written to standard output as a transcript that does not depend on where it ran.

usage: work.py DRIVER HOST PORT CA DATABASE   with DRIVER pymysql, mysqlclient or connector
"""

import datetime
import decimal
import hashlib
import os
import sys
import tempfile

import drivers

driver = drivers.find(sys.argv[1])
where = {"host": sys.argv[2], "port": int(sys.argv[3]), "ca": sys.argv[4], "database": sys.argv[5]}


def connect(**more):
    return driver.connect(**{**where, **more})


def say(*what):
    print(*what, flush=True)


def section(name):
    say("==", name)


def show(cursor):
    """Print what a cursor has: description, rows, counts."""
    if cursor.description:
        say("  columns", [(d[0], d[1], bool(d[6]) or d[0] == "CURRENT_USER()") for d in cursor.description])
        for row in cursor.fetchall():
            say("  row", tuple(shorten(v) for v in row))
    say("  count", cursor.rowcount, "id", cursor.lastrowid)


def shorten(v):
    if isinstance(v, set):
        return sorted(v)
    if isinstance(v, (bytes, bytearray, str)) and len(v) > 200:
        data = v.encode() if isinstance(v, str) else bytes(v)
        return "%s of %d, md5 %s" % (type(v).__name__, len(v), hashlib.md5(data).hexdigest())
    return v


def run(c, sql, *params):
    say(sql, *[shorten(p) for p in params])
    try:
        c.execute(sql, *params)
        show(c)
    except driver.Error as e:
        say("  error", type(e).__name__, driver.code_and_state(e), e.args[-1] if driver.name != "mysqlclient" else e.args)


def connections():
    section("connections")
    for tls in (False, True):
        conn = connect(tls=tls)
        c = conn.cursor()
        say("tls", tls, driver.encrypted(conn))
        run(c, "SELECT 1+1 AS two, DATABASE(), CURRENT_USER()")
        c.execute("SELECT CONNECTION_ID()")
        say("own id", c.fetchone()[0] == driver.thread_id(conn))
        conn.close()
    for bad in ({"password": "wrong"}, {"database": "no_such_db"}):
        try:
            connect(**bad)
            say("connected with", bad)
        except driver.Error as e:
            say("refused", bad, type(e).__name__, driver.code_and_state(e))


COLUMNS = [
    ("t", "TINYINT", [-128, None, 127]),
    ("tu", "TINYINT UNSIGNED", [255, None, 0]),
    ("b1", "TINYINT(1)", [1, None, 0]),
    ("s", "SMALLINT", [-32768, None, 32767]),
    ("m", "MEDIUMINT", [-8388608, None, 8388607]),
    ("i", "INT", [-2147483648, None, 2147483647]),
    ("l", "BIGINT", [-9223372036854775808, None, 9223372036854775807]),
    ("lu", "BIGINT UNSIGNED", [18446744073709551615, None, 0]),
    ("f", "FLOAT", [1.5, None, -0.25]),
    ("d", "DOUBLE", [1e300, None, -2.5e-300]),
    ("n", "DECIMAL(30,10)", [decimal.Decimal("12345678901234567890.0123456789"), None, decimal.Decimal("-0.1")]),
    ("da", "DATE", [datetime.date(2024, 2, 29), None, datetime.date(1000, 1, 1)]),
    ("ti", "TIME(6)", [datetime.timedelta(hours=838, minutes=59, seconds=58), None, -datetime.timedelta(hours=1, microseconds=5)]),
    ("dt", "DATETIME(6)", [datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), None, datetime.datetime(1000, 1, 1)]),
    ("ts", "TIMESTAMP(3) NULL", [datetime.datetime(2024, 3, 1, 12, 0, 0, 500000), None, datetime.datetime(1999, 12, 31)]),
    ("y", "YEAR", [2024, None, 1901]),
    ("c", "CHAR(10)", ["ab ", None, ""]),
    ("v", "VARCHAR(100)", ["smile \U0001f600 \u00e4\u00f6\u00fc \u65e5\u672c", None, "quote ' \" \\ \n \x00 %"]),
    ("vb", "VARBINARY(100)", [bytes(range(100)), None, b""]),
    ("bl", "BLOB", [bytes(range(256)) * 4, None, b"\x00"]),
    ("tx", "MEDIUMTEXT", ["x" * 70000, None, ""]),
    ("e", "ENUM('a','b')", ["a", None, "b"]),
    ("st", "SET('a','b','c')", ["a,c", None, ""]),
    ("bi", "BIT(12)", [b"\x0a\xbc", None, b"\x00\x01"]),
    ("j", "JSON", ['{"a": [1, 2, null]}', None, "[]"]),
]


def types(conn):
    section("types")
    c = conn.cursor()
    c.execute("CREATE TABLE types (id INT PRIMARY KEY AUTO_INCREMENT, %s)" % ", ".join("%s %s" % x[:2] for x in COLUMNS))
    insert = "INSERT INTO types (%s) VALUES (%s)" % (", ".join(x[0] for x in COLUMNS), ", ".join(["%s"] * len(COLUMNS)))
    for k in range(3):
        values = [x[2][k] for x in COLUMNS]
        c.execute(insert, values)
        say("inserted", c.rowcount, c.lastrowid)
    conn.commit()
    run(c, "SELECT * FROM types ORDER BY id")
    for name, _, values in COLUMNS:
        if name in ("f", "tx", "j", "bi"):
            continue
        run(c, "SELECT id, %s FROM types WHERE %s = %%s" % (name, name), (values[0],))
    for cursor in driver.prepared(conn):
        section("types, " + cursor[0])
        p = cursor[1]
        for k in range(3):
            p.execute(insert, [x[2][k] for x in COLUMNS])
            say("inserted", p.rowcount, p.lastrowid)
        for k in (1, 4, 6):
            # Without the YEAR: mysql-connector-python cannot read one of the binary protocol.
            p.execute("SELECT %s FROM types WHERE id >= %%s ORDER BY id" % ", ".join(x[0] for x in COLUMNS if x[0] != "y"), (k,))
            show(p)
        for text in ("SELECT %s", "SELECT nothing FROM types WHERE id = %s", "SELECT v FROM types WHERE id = %s AND lu > %s"):
            run(p, text, tuple([1] * text.count("%s")))
        p.close()
    conn.commit()
    c.close()


def transactions(conn):
    section("transactions")
    c = conn.cursor()
    run(c, "CREATE TABLE tx (id INT PRIMARY KEY, v INT)")
    say("autocommit", driver.get_autocommit(conn))
    run(c, "INSERT INTO tx VALUES (1, 10)")
    conn.rollback()
    run(c, "SELECT COUNT(*) FROM tx")
    run(c, "INSERT INTO tx VALUES (1, 10), (2, 20)")
    run(c, "SAVEPOINT s1")
    run(c, "UPDATE tx SET v = v + 1")
    run(c, "ROLLBACK TO SAVEPOINT s1")
    run(c, "RELEASE SAVEPOINT s1")
    run(c, "RELEASE SAVEPOINT s1")
    conn.commit()
    run(c, "SELECT * FROM tx ORDER BY id")
    conn.rollback()
    driver.set_autocommit(conn, True)
    say("autocommit", driver.get_autocommit(conn))
    run(c, "UPDATE tx SET v = v + 100 WHERE id = 2")
    conn.rollback()
    run(c, "SELECT * FROM tx ORDER BY id")
    run(c, "START TRANSACTION READ ONLY")
    run(c, "DELETE FROM tx")
    run(c, "COMMIT AND CHAIN")
    run(c, "DELETE FROM tx")
    run(c, "ROLLBACK")
    run(c, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    run(c, "BEGIN")
    run(c, "SELECT * FROM tx ORDER BY id")
    run(c, "CREATE TABLE implicit_commit (id INT)")
    run(c, "ROLLBACK")
    run(c, "SET autocommit=0")
    run(c, "DELETE FROM tx WHERE id = 1")
    run(c, "ROLLBACK")
    run(c, "SELECT @@autocommit, COUNT(*) FROM tx")
    run(c, "SET autocommit=1")
    driver.set_autocommit(conn, False)
    c.close()


def batches(conn):
    section("batches")
    c = conn.cursor()
    run(c, "CREATE TABLE batch (id INT PRIMARY KEY AUTO_INCREMENT, k INT UNIQUE, v VARCHAR(50))")
    c.executemany("INSERT INTO batch (k, v) VALUES (%s, %s)", [(k, "value %d \u00e4" % k) for k in range(1000)])
    say("many", c.rowcount, c.lastrowid)
    conn.commit()
    c.executemany("UPDATE batch SET v = %s WHERE k = %s", [("new", k) for k in range(0, 100, 10)])
    say("many", c.rowcount)
    conn.commit()
    run(c, "SELECT COUNT(*), SUM(id), SUM(k), SHA2(GROUP_CONCAT(v ORDER BY id), 256) FROM batch")
    run(c, "INSERT INTO batch (k, v) VALUES (5000, 'a'), (5001, 'b'), (1, 'duplicate')")
    run(c, "INSERT IGNORE INTO batch (k, v) VALUES (5000, 'a'), (5001, 'b'), (1, 'duplicate')")
    run(c, "INSERT INTO batch (k, v) VALUES (1, 'x'), (6000, 'y') ON DUPLICATE KEY UPDATE v = 'z'")
    run(c, "UPDATE batch SET v = 'z' WHERE k = 1")
    run(c, "SELECT LAST_INSERT_ID() > 0, ROW_COUNT()")
    run(c, "INSERT INTO batch (id, k) VALUES (LAST_INSERT_ID(70000), 7000)")
    run(c, "SELECT LAST_INSERT_ID(), @@identity")
    run(c, "SELECT SQL_CALC_FOUND_ROWS id FROM batch ORDER BY id LIMIT 2")
    run(c, "SELECT FOUND_ROWS()")
    conn.commit()
    c.close()


def multi():
    section("several statements")
    conn = connect(multi=True)
    c = conn.cursor()
    try:
        for got in driver.several(c, "CREATE TABLE multi (id INT PRIMARY KEY); INSERT INTO multi VALUES (1),(2); "
                                     "SELECT 'a;b' AS x, COUNT(*) FROM multi; /* ; */ UPDATE multi SET id = id + 10; SELECT * FROM multi"):
            show(got)
        conn.commit()
        for got in driver.several(c, "SELECT 1; INSERT INTO multi VALUES (11); SELECT 2"):
            show(got)
    except driver.Error as e:
        say("  error", type(e).__name__, driver.code_and_state(e))
    driver.close_quietly(conn)
    conn = connect()
    c = conn.cursor()
    if driver.name != "connector":  # this one always asks for several statements
        try:
            c.execute("SELECT 1; SELECT 2")
            say("  several statements ran")
        except driver.Error as e:
            say("  error", type(e).__name__, driver.code_and_state(e))
    driver.close_quietly(conn)


def procedures(conn):
    section("procedures")
    c = conn.cursor()
    run(c, "CREATE PROCEDURE p1(IN a INT, OUT b INT, INOUT c VARCHAR(20)) BEGIN "
           "SELECT a AS first; SELECT a, c UNION SELECT a + 1, 'second'; SET b = a * 2; SET c = CONCAT(c, '!'); END")
    for got in driver.call(c, "p1", (21, 0, "hi")):
        say("  ", got)
    run(c, "CREATE PROCEDURE p2() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own error', MYSQL_ERRNO = 31000; END")
    try:
        for got in driver.call(c, "p2", ()):
            say("  ", got)
        say("  no error")
    except driver.Error as e:
        say("  error", type(e).__name__, driver.code_and_state(e))
    c.close()
    c = conn.cursor()
    run(c, "CREATE FUNCTION f1(a INT) RETURNS INT DETERMINISTIC RETURN a * 3")
    run(c, "SELECT f1(14)")
    run(c, "SET @x = 5")
    run(c, "SELECT @x, @y := 7")
    run(c, "SELECT @x + @y")
    c.close()


def blobs(conn):
    section("blobs")
    c = conn.cursor()
    run(c, "CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)")
    block = bytes((k * 7 + k // 256) % 256 for k in range(1 << 16))
    for k, size in enumerate((0, 1, (1 << 24) - 1, 1 << 24, 20 << 20)):
        data = (block * (size // len(block) + 1))[:size]
        c.execute("INSERT INTO blobs VALUES (%s, %s)", (k, driver.Binary(data)))
    conn.commit()
    run(c, "SELECT id, LENGTH(b), SHA2(b, 256) FROM blobs ORDER BY id")
    run(c, "SELECT id, b FROM blobs ORDER BY id")
    c.close()


def streaming(conn):
    section("streaming")
    c = conn.cursor()
    run(c, "CREATE TABLE stream (id INT PRIMARY KEY, v VARCHAR(200))")
    c.executemany("INSERT INTO stream VALUES (%s, %s)", [(k, "v" * (k % 200)) for k in range(5000)])
    conn.commit()
    for name, s in driver.streaming(conn):
        s.execute("SELECT a.id, a.v FROM stream a ORDER BY a.id")
        total = rows = 0
        while True:
            part = s.fetchmany(700)
            if not part:
                break
            rows += len(part)
            total += sum(r[0] + len(r[1]) for r in part)
        say(name, rows, total)
        s.close()
    c.close()


def warnings(conn):
    section("warnings")
    c = conn.cursor()
    c.execute("SET SESSION sql_mode = ''")
    run(c, "CREATE TABLE w (v TINYINT, s VARCHAR(3))")
    run(c, "INSERT INTO w VALUES (1000, 'toolong'), (-1000, 'x')")
    for w in driver.warnings(conn, c):
        say("  warning", w)
    run(c, "SHOW WARNINGS")
    run(c, "SHOW COUNT(*) WARNINGS")
    run(c, "SELECT CAST('12x' AS SIGNED)")
    run(c, "SELECT @@warning_count")
    run(c, "DROP TABLE IF EXISTS not_there")
    run(c, "SHOW WARNINGS LIMIT 1")
    run(c, "SHOW ERRORS")
    c.execute("SET SESSION sql_mode = DEFAULT")
    run(c, "INSERT INTO w VALUES (1000, 'x')")
    run(c, "SHOW ERRORS")
    conn.commit()
    c.close()


def errors(conn):
    section("errors")
    c = conn.cursor()
    run(c, "CREATE TABLE parent (id INT PRIMARY KEY)")
    run(c, "CREATE TABLE child (id INT PRIMARY KEY, p INT NOT NULL, FOREIGN KEY (p) REFERENCES parent (id))")
    for sql in ("SELEC 1", "SELECT * FROM no_such_table", "SELECT nope", "INSERT INTO child VALUES (1, 1)", "INSERT INTO child (id) VALUES (2)",
                "INSERT INTO parent VALUES (1)", "INSERT INTO parent VALUES (1)", "SELECT 1/0", "USE no_such_database", "KILL 99999999",
                "SELECT (SELECT id FROM types)", "DROP TABLE no_such_table", "CALL no_such_procedure()", "SET no_such_variable = 1", "", "-- nothing"):
        run(c, sql)
    conn.rollback()
    c.close()


def catalogue(conn):
    section("catalogue")
    c = conn.cursor()
    # Without rows: the cardinality of an index is an estimate that changes by itself.
    run(c, "CREATE TABLE keyed (id INT PRIMARY KEY, k INT, KEY k_key (k))")
    for sql in ("SHOW TABLES", "SHOW FULL COLUMNS FROM types LIKE 't%'", "SHOW CREATE TABLE child", "SHOW INDEX FROM keyed", "DESCRIBE tx",
                "SHOW VARIABLES LIKE 'character\\_set\\_c%'", "SHOW SESSION VARIABLES LIKE 'collation_connection'",
                "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1",
                "SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'types' ORDER BY ORDINAL_POSITION",
                "SELECT VERSION(), @@version, @@version_comment", "EXPLAIN SELECT 1", "SHOW PROCEDURE STATUS LIKE 'nothing'"):
        run(c, sql)
    c.execute("SHOW PROCESSLIST")
    say("process list", [d[0] for d in c.description][:8], any(r[0] == driver.thread_id(conn) for r in c.fetchall()))
    c.close()


def sessions(conn):
    section("sessions")
    c = conn.cursor()
    run(c, "SET SESSION wait_timeout = 1234, @a = 'kept'")
    run(c, "SET time_zone = '+05:30'")
    run(c, "SELECT @@wait_timeout, @a, @@time_zone, FROM_UNIXTIME(0)")
    run(c, "SET NAMES latin1")
    run(c, "SELECT @@character_set_client, @@collation_connection")
    run(c, "SET NAMES utf8mb4")
    run(c, "CREATE TEMPORARY TABLE own (id INT)")
    run(c, "INSERT INTO own VALUES (1)")
    run(c, "PREPARE st FROM 'SELECT ? + 1'")
    run(c, "SET @p = 41")
    run(c, "EXECUTE st USING @p")
    run(c, "DEALLOCATE PREPARE st")
    run(c, "SELECT GET_LOCK('python', 1), IS_FREE_LOCK('python')")
    run(c, "LOCK TABLES tx WRITE")
    run(c, "SELECT COUNT(*) FROM types")
    run(c, "UNLOCK TABLES")
    conn.commit()
    driver.ping(conn)
    for name, again in driver.resets(conn):
        again()
        say("after", name)
        c = conn.cursor()
        run(c, "SELECT @a, @@time_zone, DATABASE(), CURRENT_USER()")
        run(c, "SELECT * FROM own")
        run(c, "SET @a = 'set again'")
        conn.rollback()
    say("select_db", driver.select_db(conn, "information_schema"))
    c = conn.cursor()
    run(c, "SELECT DATABASE()")
    driver.select_db(conn, where["database"])
    c.close()


def files():
    section("files")
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as f:
        for k in range(3000):
            f.write("%d,line %d\n" % (k, k))
    conn = connect(local_infile=True)
    c = conn.cursor()
    run(c, "CREATE TABLE loaded (id INT, v VARCHAR(50))")
    try:
        c.execute("LOAD DATA LOCAL INFILE '%s' INTO TABLE loaded FIELDS TERMINATED BY ','" % f.name)
        say("loaded", c.rowcount)
    except driver.Error as e:
        say("  error", type(e).__name__, driver.code_and_state(e))
    conn.commit()
    run(c, "SELECT COUNT(*), SUM(id), MAX(v) FROM loaded")
    os.unlink(f.name)
    conn.close()


def compressed():
    section("compression")
    conn = driver.compressed(**where)
    if conn is None:
        say("not offered by this driver")
        return
    c = conn.cursor()
    run(c, "SELECT REPEAT('compress me ', %d)" % (driver.compressed_row_max // 12))
    run(c, "SELECT 1")
    conn.close()


def main():
    connections()
    conn = connect()
    types(conn)
    transactions(conn)
    batches(conn)
    multi()
    procedures(conn)
    blobs(conn)
    streaming(conn)
    warnings(conn)
    errors(conn)
    catalogue(conn)
    sessions(conn)
    conn.close()
    files()
    compressed()
    say("done")


main()
