// Typical work of a Node program, written to standard output as a transcript that does not depend on where it ran.
//
// usage: work.js DRIVER HOST PORT CA DATABASE    with DRIVER mysql2 or mariadb
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');

const [driverName, host, port, caFile, database] = process.argv.slice(2);
const ca = fs.readFileSync(caFile);

// drivers hides what differs between the two.
const drivers = {
  mysql2: {
    module: () => require('mysql2/promise'),
    options: () => ({ supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, charset: 'utf8mb4' }),
    tls: () => ({ ssl: { ca } }),
    rows: (result) => result[0],
    columns: (result) => result[1] && (Array.isArray(result[1][0]) ? null : result[1].map((f) => [f.name, f.columnType, f.characterSet])),
    execute: (conn, sql, values) => conn.execute(sql, values),
    batch: async (conn, sql, rows) => {
      let n = 0;
      for (const row of rows) n += (await conn.execute(sql, row))[0].affectedRows;
      return n;
    },
    changeUser: (conn) => conn.changeUser({ user: 'ks', password: 'ks', database }),
    reset: (conn) => conn.reset(),
    id: (conn) => conn.connection.threadId,
    stream: (conn, sql) => conn.connection.query(sql).stream({ highWaterMark: 50 }),
    infile: (file) => ({ sql: `LOAD DATA LOCAL INFILE '${file}' INTO TABLE loaded FIELDS TERMINATED BY ','`, infileStreamFactory: () => fs.createReadStream(file) }),
    infileOptions: {},
    compress: { compress: true },
  },
  mariadb: {
    module: () => require('mariadb'),
    options: () => ({ bigIntAsNumber: false, dateStrings: true, checkDuplicate: false, metaAsArray: true, pipelining: true, bulk: false }),
    tls: () => ({ ssl: { ca } }),
    rows: (result) => (Array.isArray(result) && result.length === 2 && Array.isArray(result[1]) ? result[0] : result),
    columns: (result) => (Array.isArray(result) && result.length === 2 && Array.isArray(result[1]) && result[1][0] && result[1][0].name
      ? result[1].map((f) => [f.name(), f.columnType, f.collation && f.collation.charset]) : null),
    execute: (conn, sql, values) => conn.execute(sql, values),
    batch: async (conn, sql, rows) => {
      const r = await conn.batch(sql, rows);
      return [r].flat(Infinity).reduce((n, one) => n + ((one && one.affectedRows) || 0), 0);
    },
    changeUser: (conn) => conn.changeUser({ user: 'ks', password: 'ks', database }),
    reset: (conn) => conn.reset(),
    id: (conn) => conn.threadId,
    stream: (conn, sql) => conn.queryStream(sql),
    infile: (file) => `LOAD DATA LOCAL INFILE '${file}' INTO TABLE loaded FIELDS TERMINATED BY ','`,
    infileOptions: { permitLocalInfile: true, pipelining: false },
    compress: { compress: true },
  },
};
const driver = drivers[driverName];

function connect(more) {
  return driver.module().createConnection({ host, port: Number(port), user: 'root', password: 'root', database, ...driver.options(), ...more });
}

function say(...what) {
  console.log(...what.map((w) => (typeof w === 'string' ? w : JSON.stringify(w, shorten))));
}

function shorten(key, v) {
  // MariaDB says in metadata of its own that a text is JSON, and mysql2 parses it then; a proxy does not pass that on.
  if (key === 'j' && typeof v === 'string') v = JSON.parse(v);
  if (typeof v === 'bigint') return v.toString() + 'n';
  if (v && v.type === 'Buffer') v = Buffer.from(v.data);
  if (Buffer.isBuffer(v)) {
    return v.length > 100 ? `buffer of ${v.length}, ${crypto.createHash('md5').update(v).digest('hex')}` : 'buffer ' + v.toString('hex');
  }
  if (typeof v === 'string' && v.length > 200) return `string of ${v.length}, ${crypto.createHash('md5').update(v).digest('hex')}`;
  return v;
}

function show(result) {
  const columns = driver.columns(result);
  if (columns) say('  columns', columns);
  const rows = driver.rows(result);
  if (Array.isArray(rows)) for (const r of rows) say('  row', r);
  else say('  ok', rows);
}

function problem(e) {
  return { code: e.code, errno: e.errno, state: e.sqlState, message: e.sqlMessage };
}

async function run(conn, sql, values) {
  say(sql, values === undefined ? '' : values);
  try {
    show(await (values === undefined ? conn.query(sql) : driver.execute(conn, sql, values)));
  } catch (e) {
    say('  error', problem(e));
  }
}

async function connections() {
  say('== connections');
  for (const tls of [false, true]) {
    const conn = await connect(tls ? driver.tls() : {});
    await run(conn, 'SELECT 1+1 AS two, DATABASE() AS db');
    const row = driver.rows(await conn.query('SELECT CONNECTION_ID() AS id'))[0];
    say('own id', Number(row.id) === driver.id(conn));
    await conn.ping();
    await conn.end();
  }
  for (const bad of [{ password: 'wrong' }, { database: 'no_such_db' }]) {
    try {
      await connect(bad);
      say('connected with', bad);
    } catch (e) {
      // For a wrong password the message depends on the authentication plugin.
      say('refused', bad, bad.password ? '' : { errno: e.errno, state: e.sqlState });
    }
  }
}

const columns = [
  ['t', 'TINYINT', -128, 127], ['tu', 'TINYINT UNSIGNED', 255, 0], ['b1', 'TINYINT(1)', true, false], ['s', 'SMALLINT', -32768, 32767],
  ['m', 'MEDIUMINT', -8388608, 8388607], ['i', 'INT', -2147483648, 2147483647], ['l', 'BIGINT', '-9223372036854775808', 9007199254740991n],
  ['lu', 'BIGINT UNSIGNED', '18446744073709551615', 0], ['f', 'FLOAT', 1.5, -0.25], ['d', 'DOUBLE', 1e300, -2.5e-300],
  ['n', 'DECIMAL(30,10)', '12345678901234567890.0123456789', '-0.1'], ['da', 'DATE', '2024-02-29', '1000-01-01'],
  ['ti', 'TIME(6)', '838:59:58.000000', '-01:00:00.000005'], ['dt', 'DATETIME(6)', '2024-02-29 23:59:59.123456', '1000-01-01 00:00:00'],
  ['ts', 'TIMESTAMP(3) NULL', '2024-03-01 12:00:00.500', '1999-12-31 00:00:00'], ['y', 'YEAR', 2024, 1901], ['c', 'CHAR(10)', 'ab', ''],
  ['v', 'VARCHAR(100)', 'smile \u{1F600} äöü 日本', 'quote \' " \\ \n \0 %'], ['vb', 'VARBINARY(100)', Buffer.from([0, 1, 254, 255]), Buffer.alloc(0)],
  ['bl', 'BLOB', Buffer.alloc(1024, 'blob'), Buffer.from([0])], ['tx', 'MEDIUMTEXT', 'x'.repeat(70000), ''], ['e', "ENUM('a','b')", 'a', 'b'],
  ['st', "SET('a','b','c')", 'a,c', ''], ['bi', 'BIT(12)', Buffer.from([10, 188]), Buffer.from([0, 1])], ['j', 'JSON', '{"a": [1, 2, null]}', '[]'],
];

async function types(conn) {
  say('== types');
  await run(conn, `CREATE TABLE types (id INT PRIMARY KEY AUTO_INCREMENT, ${columns.map((c) => `${c[0]} ${c[1]}`).join(', ')})`);
  const insert = `INSERT INTO types (${columns.map((c) => c[0]).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  for (const k of [2, 3]) {
    await run(conn, insert, columns.map((c) => c[k]));
    show(await conn.query(insert, columns.map((c) => c[k])));
  }
  await run(conn, insert, columns.map(() => null));
  await run(conn, 'SELECT * FROM types ORDER BY id');
  await run(conn, 'SELECT * FROM types ORDER BY id', []);
  for (const k of [1, 3, 9]) await run(conn, 'SELECT id, v, n, dt FROM types WHERE id > ? AND (i = ? OR v LIKE ?)', [k, 2147483647, '%日%']);
  await run(conn, 'SELECT ? + ? AS sum, ? AS text, ? AS nothing', [1, 2.5, 'é', null]);
  await run(conn, 'SELECT nope FROM types WHERE id = ?', [1]);
}

async function transactions(conn) {
  say('== transactions');
  await run(conn, 'CREATE TABLE tx (id INT PRIMARY KEY, v INT)');
  await conn.beginTransaction();
  await run(conn, 'INSERT INTO tx VALUES (1, 10), (2, 20)');
  await run(conn, 'SAVEPOINT one');
  await run(conn, 'UPDATE tx SET v = v + ? WHERE id = ?', [1, 1]);
  await run(conn, 'ROLLBACK TO one');
  await conn.commit();
  await run(conn, 'SELECT * FROM tx');
  await conn.beginTransaction();
  await run(conn, 'DELETE FROM tx');
  await run(conn, 'INSERT INTO tx VALUES (3, 30), (3, 31)');
  await run(conn, 'SELECT COUNT(*) AS n FROM tx');
  await conn.rollback();
  await run(conn, 'SELECT COUNT(*) AS n FROM tx');
  await run(conn, 'SET autocommit=0');
  await run(conn, 'INSERT INTO tx VALUES (1, 1)');
  await run(conn, 'INSERT INTO tx VALUES (4, 40)');
  await run(conn, 'ROLLBACK');
  await run(conn, 'SET autocommit=1');
  await run(conn, 'SELECT COUNT(*) AS n, @@autocommit AS a FROM tx');
}

async function batches(conn) {
  say('== batches');
  await run(conn, 'CREATE TABLE batch (id INT PRIMARY KEY AUTO_INCREMENT, k INT UNIQUE, v VARCHAR(50))');
  const rows = [];
  for (let k = 0; k < 500; k++) rows.push([k, k % 7 ? `value ${k} ä` : null]);
  say('many', await driver.batch(conn, 'INSERT INTO batch (k, v) VALUES (?, ?)', rows));
  await run(conn, 'SELECT COUNT(*) AS n, SUM(k) AS s, COUNT(v) AS v FROM batch');
  await run(conn, "INSERT INTO batch (k, v) VALUES (1000, 'a'), (1001, 'b')");
  await run(conn, 'SELECT LAST_INSERT_ID() AS last');
  await run(conn, "INSERT IGNORE INTO batch (k, v) VALUES (1000, 'a')");
  await run(conn, 'SHOW WARNINGS');
  await run(conn, 'UPDATE batch SET v = NULL WHERE k < 14');
  say('row count', Number(driver.rows(await conn.query('SELECT ROW_COUNT() AS n'))[0].n));
  // Many at once on one connection: answers come in the order of the questions.
  const answers = await Promise.all([...Array(100).keys()].map((k) => driver.execute(conn, 'SELECT ? + k AS x FROM batch WHERE k = ?', [k, k])));
  say('pipelined', answers.map((a) => Number(driver.rows(a)[0].x)).join(','));
}

async function procedures(conn) {
  say('== procedures');
  await run(conn, "CREATE PROCEDURE p1(IN a INT, OUT b INT) BEGIN SELECT a AS first; SELECT a + 1 AS second UNION SELECT 7; SET b = a * 2; END");
  await run(conn, 'CALL p1(21, @b)');
  await run(conn, 'SELECT @b');
  await run(conn, "CREATE PROCEDURE p2() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own', MYSQL_ERRNO = 31000; END");
  await run(conn, 'CALL p2()');
  await run(conn, 'SELECT 1');
}

async function several() {
  say('== several statements');
  const conn = await connect({ multipleStatements: true });
  await run(conn, 'CREATE TABLE multi (id INT); INSERT INTO multi VALUES (1), (2); SELECT COUNT(*) AS n FROM multi; UPDATE multi SET id = 9');
  await run(conn, "SELECT ';' AS a; SELECT nope; SELECT 3");
  await run(conn, 'SELECT 4');
  await conn.end();
  const plain = await connect({});
  try {
    await plain.query('SELECT 1; SELECT 2');
    say('several statements ran');
  } catch (e) {
    say('refused', e.errno, e.sqlState);
  }
  await plain.end();
}

async function blobs(conn) {
  say('== blobs');
  await run(conn, 'CREATE TABLE blobs (id INT PRIMARY KEY, b LONGBLOB)');
  for (const size of [0, 1, (1 << 24) - 1, 1 << 24, 20 << 20]) {
    const data = Buffer.alloc(size, 'some bytes \0\x01 ');
    await driver.execute(conn, 'INSERT INTO blobs VALUES (?, ?)', [size, data]);
  }
  await run(conn, 'SELECT id, LENGTH(b) AS l, SHA2(b, 256) AS h FROM blobs ORDER BY id');
  await run(conn, 'SELECT id, b FROM blobs ORDER BY id');
  await run(conn, 'SELECT id, b FROM blobs WHERE id > ? ORDER BY id', [1]);
}

async function streaming(conn) {
  say('== streaming');
  let n = 0;
  let sum = 0;
  for await (const row of driver.stream(conn, 'SELECT a.k AS k, REPEAT(\'x\', 100) AS x FROM batch a JOIN batch b ON b.k < 40')) {
    n++;
    sum += row.k + row.x.length;
  }
  say('streamed', n, sum);
}

async function errors(conn) {
  say('== errors and warnings');
  await run(conn, "SET SESSION sql_mode = ''");
  await run(conn, 'CREATE TABLE w (v TINYINT)');
  await run(conn, 'INSERT INTO w VALUES (1000)');
  await run(conn, 'SHOW WARNINGS');
  await run(conn, 'SET SESSION sql_mode = DEFAULT');
  for (const sql of ['INSERT INTO w VALUES (1000)', 'SELEC 1', 'SELECT * FROM no_such_table', 'USE no_such_database', 'INSERT INTO tx VALUES (1, 1)',
    'CALL no_such_procedure()', 'SELECT 1/0 AS x', 'KILL 99999999', 'SELECT (SELECT k FROM batch) AS x']) {
    await run(conn, sql);
  }
}

async function catalogue(conn) {
  say('== catalogue');
  // Without rows: the cardinality of an index is an estimate that changes by itself.
  await run(conn, 'CREATE TABLE keyed (id INT PRIMARY KEY, k INT, KEY k_key (k))');
  for (const sql of ['SHOW TABLES', 'SHOW FULL COLUMNS FROM tx', 'SHOW CREATE TABLE tx', 'SHOW INDEX FROM keyed', 'SHOW VARIABLES LIKE \'character\\_set\\_client\'',
    'SELECT TABLE_NAME AS t FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1', 'SELECT VERSION() AS v', 'EXPLAIN SELECT 1']) {
    await run(conn, sql);
  }
}

async function sessions(conn) {
  say('== sessions');
  await run(conn, "SET @a = 'kept', time_zone = '+05:30'");
  await run(conn, 'SELECT @a, @@time_zone, FROM_UNIXTIME(0) AS t');
  await run(conn, 'CREATE TEMPORARY TABLE own (id INT)');
  await run(conn, 'INSERT INTO own VALUES (1)');
  await run(conn, "SELECT GET_LOCK('node', 1) AS l");
  await driver.reset(conn);
  say('after reset');
  await run(conn, 'SET NAMES utf8mb4'); // a server has forgotten what the login asked for, a proxy has not
  await run(conn, 'SELECT @a, @@time_zone, DATABASE() AS db');
  await run(conn, 'SELECT * FROM own');
  await run(conn, "SELECT IS_FREE_LOCK('node') AS f");
  await run(conn, "SET @a = 'again'");
  try {
    await driver.changeUser(conn);
    say('after change of user');
  } catch (e) {
    say('no change of user', e.errno); // the mariadb driver refuses it for MySQL
  }
  await run(conn, 'SELECT @a, DATABASE() AS db, CURRENT_USER() AS u');
}

async function files() {
  say('== files');
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'ks-node-')), 'rows.csv');
  fs.writeFileSync(file, [...Array(3000).keys()].map((k) => `${k},line ${k}\n`).join(''));
  const conn = await connect(driver.infileOptions);
  await run(conn, 'CREATE TABLE loaded (id INT, v VARCHAR(50))');
  show(await conn.query(driver.infile(file)));
  await run(conn, 'SELECT COUNT(*) AS n, SUM(id) AS s, MAX(v) AS v FROM loaded');
  await conn.end();
  fs.rmSync(path.dirname(file), { recursive: true });
}

async function compressed() {
  say('== compression');
  const conn = await connect(driver.compress);
  await run(conn, "SELECT REPEAT('compress me ', 100000) AS x");
  await run(conn, "SELECT REPEAT(?, 10000) AS x", ['and me ']);
  await conn.end();
}

async function main() {
  await connections();
  const conn = await connect({});
  for (const part of [types, transactions, batches, procedures, blobs, streaming, errors, catalogue, sessions]) await part(conn);
  await conn.end();
  await several();
  await files();
  await compressed();
  say('done');
}

main().catch((e) => {
  console.log('failed', e.message);
  console.error(e);
  process.exit(1);
});
