"""What differs between the Python drivers."""


class Driver:
    name = ""
    compressed_row_max = 1 << 20  # bytes

    def thread_id(self, conn):
        return conn.thread_id()

    def encrypted(self, conn):
        return None

    def get_autocommit(self, conn):
        return conn.get_autocommit()

    def set_autocommit(self, conn, on):
        conn.autocommit(on)

    def prepared(self, conn):
        return []

    def several(self, c, sql):
        c.execute(sql)
        yield c
        while c.nextset():
            yield c

    def call(self, c, name, args):
        c.callproc(name, args)
        while True:
            if c.description:
                yield c.fetchall()
            if not c.nextset():
                break
        if args:
            c.execute("SELECT " + ", ".join("@_%s_%d" % (name, k) for k in range(len(args))))
            yield c.fetchall()

    def close_quietly(self, conn):
        try:
            conn.close()
        except self.Error:
            pass

    def code_and_state(self, e):
        return e.args[0]

    def warnings(self, conn, c):
        return conn.show_warnings()

    def select_db(self, conn, db):
        conn.select_db(db)

    def ping(self, conn):
        conn.ping()

    def resets(self, conn):
        return []


class PyMySQL(Driver):
    name = "pymysql"

    def __init__(self):
        import pymysql
        self.module = pymysql
        self.Error = pymysql.MySQLError
        self.Binary = pymysql.Binary

    def connect(self, host, port, ca, database, user="root", password="root", tls=False, multi=False, local_infile=False):
        flags = self.module.constants.CLIENT.MULTI_STATEMENTS if multi else 0
        return self.module.connect(host=host, port=port, user=user, password=password, database=database, charset="utf8mb4",
                                   ssl_ca=ca if tls else None, ssl_disabled=not tls, client_flag=flags, local_infile=local_infile,
                                   max_allowed_packet=64 << 20)

    def encrypted(self, conn):
        return hasattr(conn._sock, "cipher")

    def ping(self, conn):
        conn.ping(reconnect=False)

    def streaming(self, conn):
        yield "SSCursor", conn.cursor(self.module.cursors.SSCursor)
        yield "Cursor", conn.cursor()

    def compressed(self, **where):
        return None


class MySQLClient(Driver):
    name = "mysqlclient"

    def __init__(self):
        import MySQLdb
        import MySQLdb.constants.CLIENT
        import MySQLdb.cursors
        self.module = MySQLdb
        self.Error = MySQLdb.MySQLError
        self.Binary = MySQLdb.Binary

    def connect(self, host, port, ca, database, user="root", password="root", tls=False, multi=False, local_infile=False, compress=False):
        more = {"ssl": {"ca": ca}, "ssl_mode": "REQUIRED"} if tls else {"ssl_mode": "DISABLED"}
        flags = 0 if multi else self.module.constants.CLIENT.MULTI_RESULTS
        return self.module.connect(host=host, port=port, user=user, password=password, database=database, charset="utf8mb4",
                                   client_flag=flags, local_infile=1 if local_infile else 0, multi_statements=multi, compress=compress, **more)

    def streaming(self, conn):
        yield "SSCursor", conn.cursor(self.module.cursors.SSCursor)
        yield "Cursor", conn.cursor()

    def resets(self, conn):
        yield "change user", lambda: conn.change_user("ks", "ks", "kingshard_py")

    def compressed(self, **where):
        return self.connect(compress=True, **where)


class Connector(Driver):
    name = "connector"
    # This one cannot read a packet that comes in more than two compressed ones. A server never sends it so, the proxy does.
    compressed_row_max = 16 << 10

    def __init__(self):
        import mysql.connector
        self.module = mysql.connector
        self.Error = mysql.connector.Error
        self.Binary = bytes

    def connect(self, host, port, ca, database, user="root", password="root", tls=False, multi=False, local_infile=False, compress=False):
        more = {"ssl_ca": ca, "ssl_verify_cert": True} if tls else {"ssl_disabled": True}
        return self.module.connect(host=host, port=port, user=user, password=password, database=database, charset="utf8mb4",
                                   collation="utf8mb4_general_ci", use_pure=True, allow_local_infile=local_infile, compress=compress, **more)

    def thread_id(self, conn):
        return conn.connection_id

    def encrypted(self, conn):
        return conn._ssl_active

    def get_autocommit(self, conn):
        return conn.autocommit

    def set_autocommit(self, conn, on):
        conn.autocommit = on

    def prepared(self, conn):
        yield "prepared", conn.cursor(prepared=True)

    def several(self, c, sql):
        c.execute(sql)
        yield c
        while c.nextset():
            yield c

    def call(self, c, name, args):
        out = c.callproc(name, args)
        for r in c.stored_results():
            yield r.fetchall()
        yield out

    def code_and_state(self, e):
        return e.errno, e.sqlstate, e.msg

    def warnings(self, conn, c):
        return []

    def select_db(self, conn, db):
        conn.database = db

    def ping(self, conn):
        conn.ping(reconnect=False)

    def streaming(self, conn):
        yield "unbuffered", conn.cursor()
        yield "buffered", conn.cursor(buffered=True)
        yield "prepared", conn.cursor(prepared=True)

    def resets(self, conn):
        yield "reset", lambda: conn.cmd_reset_connection()
        yield "change user", lambda: conn.cmd_change_user(username="ks", password="ks", database=conn.database)
        yield "reset session", lambda: conn.reset_session(user_variables={"b": 1}, session_variables={"time_zone": "+01:00"})

    def compressed(self, **where):
        return self.connect(compress=True, **where)


def find(name):
    if name == "pymysql":
        return PyMySQL()
    if name == "mysqlclient":
        return MySQLClient()
    return Connector()
