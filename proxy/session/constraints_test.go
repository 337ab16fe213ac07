package session_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// constraintsConfig has tables whose sub-tables share databases: customers, orders and lines lie together, months do by date, r is on both.
const constraintsConfig = `
addr: 127.0.0.1:0
user_list: [{user: app, password: app}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: customers, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: orders, key: customer_id, colocate_with: customers}
      - {db: shop, table: addresses, key: customer_id, colocate_with: customers}
      - {db: shop, table: months, key: day, type: date_month, nodes: [n0, n1], date_range: [202401-202402, 202403-202404]}
      - {db: shop, table: others, key: id, type: hash, nodes: [n1], locations: [3]}
      - {db: shop, table: r, type: reference}
`

// constraintsRig gives a client of one server, and one of a proxy over two, with empty databases.
func constraintsRig(t *testing.T, kind mysqltest.Kind) (one, c *mysqltest.RawClient, nodes []*mysqltest.RawClient) {
	t.Helper()
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
	var direct []*mysqltest.RawClient
	for _, server := range servers {
		d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		must(t, d, "DROP DATABASE IF EXISTS shop")
		must(t, d, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		must(t, d, "USE shop")
		direct = append(direct, d)
	}
	addr := startProxyLog(t, fmt.Sprintf(constraintsConfig, servers[1].Addr, servers[2].Addr), io.Discard)
	return direct[0], dial(t, addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"}), direct[1:]
}

// longConstraint has as many characters as a name can have.
const longConstraint = "orders_customer_id_and_more_9a8b7c6d_fk_customers_customer_ident"

// constraintTables begin every migration.
var constraintTables = []string{
	"CREATE TABLE customers (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20), score INT)",
	"CREATE TABLE orders (id BIGINT NOT NULL, customer_id BIGINT NOT NULL, amount INT, note VARCHAR(9), PRIMARY KEY (id))",
	"CREATE TABLE r (id INT PRIMARY KEY, v INT)",
}

// constraintMigrations are those of ORMs, as they send them.
var constraintMigrations = map[string][]string{
	"django": {
		"ALTER TABLE `orders` ADD CONSTRAINT `orders_customer_id_9a8b7c6d_fk_customers_id` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`)",
		"ALTER TABLE `orders` ADD CONSTRAINT `amount_positive` CHECK ((`amount` >= 0))",
		"#",
		"ALTER TABLE `orders` RENAME COLUMN `note` TO `remark`",
		"ALTER TABLE `orders` DROP FOREIGN KEY `orders_customer_id_9a8b7c6d_fk_customers_id`",
		"ALTER TABLE `orders` DROP INDEX `orders_customer_id_9a8b7c6d_fk_customers_id`",
		"ALTER TABLE `orders` ADD CONSTRAINT `" + longConstraint + "` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`)",
		"#",
		"ALTER TABLE `orders` DROP FOREIGN KEY `" + longConstraint + "`",
	},
	"rails": {
		"ALTER TABLE `orders` ADD CONSTRAINT `fk_rails_3dad120da9`\nFOREIGN KEY (`customer_id`)\n  REFERENCES `customers` (`id`)\n ON DELETE CASCADE",
		"ALTER TABLE `orders` ADD CONSTRAINT `chk_rails_0a1b2c3d4e` CHECK (amount < 1000)",
		"#",
		"ALTER TABLE `orders` DROP CONSTRAINT `chk_rails_0a1b2c3d4e`",
		"ALTER TABLE `orders` DROP FOREIGN KEY `fk_rails_3dad120da9`",
		"CREATE INDEX `index_orders_on_customer_id` ON `orders` (`customer_id`)",
	},
	"laravel": {
		"alter table `orders` add constraint `orders_customer_id_foreign` foreign key (`customer_id`) references `customers` (`id`) on delete cascade on update no action",
		"#",
		"alter table `orders` add constraint `orders_customer_id_foreign` foreign key (`customer_id`) references `customers` (`id`)",
		"alter table `orders` drop foreign key `orders_customer_id_foreign`",
		"alter table `orders` drop index `orders_customer_id_foreign`",
		"alter table `orders` drop foreign key `orders_customer_id_foreign`",
	},
	"doctrine": {
		"CREATE INDEX IDX_E52FFDEE9395C3F3 ON orders (customer_id)",
		"ALTER TABLE orders ADD CONSTRAINT FK_E52FFDEE9395C3F3 FOREIGN KEY (customer_id) REFERENCES customers (id)",
		"#",
		"ALTER TABLE orders DROP FOREIGN KEY FK_E52FFDEE9395C3F3",
		"DROP INDEX IDX_E52FFDEE9395C3F3 ON orders",
	},
	"hibernate": {
		"alter table orders add constraint FKpxtb8awmi0dk6smoh2vp1litg foreign key (customer_id) references customers (id)",
		"#",
		"alter table orders drop foreign key FKpxtb8awmi0dk6smoh2vp1litg",
		"alter table orders add constraint FKpxtb8awmi0dk6smoh2vp1litg foreign key (customer_id) references customers (id)",
	},
	"gorm": {
		"DROP TABLE orders",
		"CREATE TABLE `orders` (`id` bigint unsigned,`customer_id` bigint,`amount` int,`note` longtext,PRIMARY KEY (`id`),CONSTRAINT `fk_customers_orders` FOREIGN KEY (`customer_id`) " +
			"REFERENCES `customers`(`id`) ON DELETE CASCADE ON UPDATE CASCADE,CONSTRAINT `chk_orders_amount` CHECK (amount > 0))",
		"#",
		"ALTER TABLE `orders` DROP FOREIGN KEY `fk_customers_orders`",
		"ALTER TABLE `orders` DROP CONSTRAINT `chk_orders_amount`",
	},
	"sequelize": {
		"DROP TABLE orders",
		"CREATE TABLE IF NOT EXISTS `orders` (`id` INTEGER NOT NULL, `customer_id` BIGINT, `amount` INTEGER, `note` VARCHAR(9), PRIMARY KEY (`id`), FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) " +
			"ON DELETE NO ACTION ON UPDATE CASCADE) ENGINE=InnoDB;",
		"#",
		"ALTER TABLE `orders` DROP FOREIGN KEY `orders_ibfk_1`;",
		"ALTER TABLE `orders` ADD CONSTRAINT `orders_customer_id_customers_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE CASCADE;",
		"#",
		"ALTER TABLE `orders` DROP FOREIGN KEY orders_customer_id_customers_fk;",
	},
	"references": {
		"DROP TABLE orders",
		"CREATE TABLE orders (id BIGINT, customer_id BIGINT, amount INT, note VARCHAR(9), PRIMARY KEY (customer_id, id), CONSTRAINT own FOREIGN KEY (customer_id) REFERENCES customers (id), " +
			"CONSTRAINT `of the reference` FOREIGN KEY (amount) REFERENCES r (id), CONSTRAINT small CHECK (amount < 90), CHECK (note <> 'u'), FOREIGN KEY named (amount) REFERENCES r (id))",
		"#",
		"CREATE TABLE addresses (customer_id BIGINT PRIMARY KEY, CONSTRAINT own FOREIGN KEY (customer_id) REFERENCES customers (id))",
		"CREATE TABLE addresses (customer_id BIGINT PRIMARY KEY, CONSTRAINT orders FOREIGN KEY customers (customer_id) REFERENCES customers (id))",
		"ALTER TABLE orders ADD CONSTRAINT own FOREIGN KEY (customer_id) REFERENCES customers (id)",
		"ALTER TABLE orders ADD CONSTRAINT small CHECK (amount < 91)",
		"ALTER TABLE addresses DROP FOREIGN KEY own",
		"ALTER TABLE addresses DROP FOREIGN KEY orders, ADD CONSTRAINT another FOREIGN KEY (customer_id) REFERENCES customers (id)",
		"ALTER TABLE orders RENAME INDEX `of the reference` TO shorter",
		"#",
		"ALTER TABLE r MODIFY id BIGINT", "ALTER TABLE r DROP COLUMN id", "ALTER TABLE orders DROP COLUMN amount", "DROP TABLE customers", "DROP TABLE r", "TRUNCATE TABLE customers",
		"ALTER TABLE orders DROP INDEX shorter", "ALTER TABLE orders DROP FOREIGN KEY nothing", "ALTER TABLE orders DROP CONSTRAINT nothing", "ALTER TABLE orders DROP INDEX nothing",
		"ALTER TABLE orders DROP FOREIGN KEY own, DROP FOREIGN KEY `of the reference`, DROP CONSTRAINT small",
		"ALTER TABLE orders ADD CONSTRAINT missing FOREIGN KEY (customer_id) REFERENCES customers (nothing)", "ALTER TABLE orders ADD CONSTRAINT missing FOREIGN KEY (customer_id) REFERENCES customers (score)",
		"ALTER TABLE orders ADD CONSTRAINT missing FOREIGN KEY (note) REFERENCES customers (id)", "ALTER TABLE orders ADD CONSTRAINT " + longConstraint + "x FOREIGN KEY (customer_id) REFERENCES customers (id)",
		"#",
	},
}

// constraintsOfKind are statements of one kind of server behind the migration "references".
var constraintsOfKind = map[mysqltest.Kind][]string{
	mysqltest.MariaDB: {
		"ALTER TABLE orders ADD CONSTRAINT FOREIGN KEY IF NOT EXISTS by_if (customer_id) REFERENCES customers (id)", "ALTER TABLE orders ADD CONSTRAINT FOREIGN KEY IF NOT EXISTS by_if (customer_id) REFERENCES customers (id)",
		"#", "ALTER TABLE orders DROP FOREIGN KEY IF EXISTS by_if, DROP FOREIGN KEY IF EXISTS nothing, DROP CONSTRAINT IF EXISTS nothing", "ALTER TABLE IF EXISTS orders DROP INDEX IF EXISTS by_if", "#",
		"ALTER TABLE orders DROP FOREIGN KEY named", "ALTER TABLE orders ADD CONSTRAINT by_constraint FOREIGN KEY (customer_id) REFERENCES customers (id), DROP INDEX IF EXISTS nothing", "ALTER TABLE orders DROP CONSTRAINT by_constraint",
	},
	mysqltest.MySQL9: {
		"ALTER TABLE orders ADD CONSTRAINT mine CHECK (amount < 80)", "ALTER TABLE orders ALTER CHECK mine NOT ENFORCED", "#", "ALTER TABLE orders ALTER CONSTRAINT mine ENFORCED", "#", "ALTER TABLE orders DROP CHECK mine",
		"ALTER TABLE orders ALTER CHECK orders_chk_1 NOT ENFORCED", "ALTER TABLE orders DROP CHECK orders_chk_1", "ALTER TABLE orders DROP CHECK mine", "ALTER TABLE orders ALTER CHECK mine ENFORCED",
		"CREATE TABLE addresses_of_none (a INT, CONSTRAINT small CHECK (a > 1))", "ALTER TABLE orders DROP FOREIGN KEY orders_ibfk_1", "ALTER TABLE orders ADD CONSTRAINT `" + longConstraint[1:] + "` CHECK (amount < 70)", "#",
		"ALTER TABLE orders DROP CONSTRAINT `" + longConstraint[1:] + "`",
	},
}

// constraintsAsked are what ORMs ask about constraints, and changes that break some.
var constraintsAsked = []string{
	"SHOW CREATE TABLE orders", "SHOW INDEX FROM orders", "SHOW KEYS FROM orders WHERE Key_name LIKE '%o%' AND `Table` = 'orders'",
	// Django
	"SELECT kc.column_name, kc.referenced_column_name, kc.referenced_table_name FROM information_schema.key_column_usage AS kc WHERE kc.table_schema = DATABASE() AND kc.table_name = 'orders' AND kc.referenced_column_name IS NOT NULL ORDER BY 1, 2, 3",
	"SELECT kc.`constraint_name`, kc.`column_name`, kc.`referenced_table_name`, kc.`referenced_column_name`, c.`constraint_type` FROM information_schema.key_column_usage AS kc, information_schema.table_constraints AS c " +
		"WHERE kc.table_schema = DATABASE() AND c.table_schema = kc.table_schema AND c.table_name = kc.table_name AND c.constraint_name = kc.constraint_name AND kc.table_name = 'orders' ORDER BY kc.`constraint_name`, kc.`ordinal_position`",
	"SELECT cc.constraint_name FROM information_schema.check_constraints AS cc, information_schema.table_constraints AS tc WHERE cc.constraint_schema = DATABASE() AND tc.table_schema = cc.constraint_schema " +
		"AND cc.constraint_name = tc.constraint_name AND tc.constraint_type = 'CHECK' AND tc.table_name = 'orders' ORDER BY 1",
	// Rails
	"SELECT fk.referenced_table_name AS 'to_table', fk.referenced_column_name AS 'primary_key', fk.column_name AS 'column', fk.constraint_name AS 'name', fk.ordinal_position AS 'position', rc.update_rule AS 'on_update', " +
		"rc.delete_rule AS 'on_delete' FROM information_schema.referential_constraints rc JOIN information_schema.key_column_usage fk USING (constraint_schema, constraint_name) WHERE fk.referenced_column_name IS NOT NULL " +
		"AND fk.table_schema = database() AND fk.table_name = 'orders' AND rc.constraint_schema = database() AND rc.table_name = 'orders' ORDER BY 4",
	// Laravel
	"select kc.constraint_name as `name`, group_concat(kc.column_name order by kc.ordinal_position) as `columns`, kc.referenced_table_schema as `foreign_schema`, kc.referenced_table_name as `foreign_table`, " +
		"group_concat(kc.referenced_column_name order by kc.ordinal_position) as `foreign_columns`, rc.update_rule as `on_update`, rc.delete_rule as `on_delete` from information_schema.key_column_usage kc " +
		"join information_schema.referential_constraints rc on kc.constraint_schema = rc.constraint_schema and kc.constraint_name = rc.constraint_name where kc.table_schema = 'shop' and kc.table_name = 'orders' " +
		"and kc.referenced_table_name is not null group by kc.constraint_name, kc.referenced_table_schema, kc.referenced_table_name, rc.update_rule, rc.delete_rule order by 1",
	"select index_name as `name`, group_concat(column_name order by seq_in_index) as `columns`, index_type as `type`, not non_unique as `unique` from information_schema.statistics where table_schema = 'shop' " +
		"and table_name = 'orders' group by index_name, index_type, non_unique order by 1",
	// Doctrine
	"SELECT DISTINCT k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, k.ORDINAL_POSITION /*!50116 , c.UPDATE_RULE, c.DELETE_RULE */ FROM information_schema.key_column_usage k " +
		"/*!50116 INNER JOIN information_schema.referential_constraints c ON c.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND c.TABLE_NAME = k.TABLE_NAME */ WHERE k.TABLE_NAME = 'orders' AND k.TABLE_SCHEMA = 'shop' " +
		"/*!50116 AND c.CONSTRAINT_SCHEMA = 'shop' */ AND k.`REFERENCED_COLUMN_NAME` IS NOT NULL ORDER BY k.CONSTRAINT_NAME",
	// GORM
	"SELECT count(*) FROM INFORMATION_SCHEMA.table_constraints WHERE constraint_schema = 'shop' AND table_name = 'orders' AND constraint_name IN ('fk_customers_orders', 'own', 'small')",
	"SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'orders' ORDER BY 1",
	// Sequelize
	"SELECT CONSTRAINT_NAME as constraint_name, CONSTRAINT_NAME as constraintName, CONSTRAINT_SCHEMA as constraintSchema, TABLE_NAME as tableName, COLUMN_NAME as columnName, REFERENCED_TABLE_SCHEMA as referencedTableSchema, " +
		"REFERENCED_TABLE_NAME as referencedTableName, REFERENCED_COLUMN_NAME as referencedColumnName FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE where TABLE_NAME = 'orders' AND CONSTRAINT_NAME != 'PRIMARY' " +
		"AND CONSTRAINT_SCHEMA = 'shop' AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1",
	"SELECT CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' ORDER BY 1",

	"INSERT INTO r VALUES (1, 1), (2, 2)", "INSERT INTO customers (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')", "INSERT INTO orders (id, customer_id, amount) VALUES (1, 1, 1)",
	"INSERT INTO orders (id, customer_id, amount) VALUES (2, 99, 1)", "INSERT INTO orders (id, customer_id, amount) VALUES (2, 98, 1)", "INSERT INTO orders (id, customer_id, amount) VALUES (3, 3, -5)",
	"INSERT INTO orders (id, customer_id, amount) VALUES (3, 3, 1001)", "INSERT INTO orders (id, customer_id, amount) VALUES (3, 3, 85)", "INSERT IGNORE INTO orders (id, customer_id, amount) VALUES (4, 97, 1)",
	"INSERT INTO orders (id, customer_id, amount, note) VALUES (5, 1, 2, 'u')", "UPDATE orders SET amount = -1 WHERE customer_id = 1", "UPDATE orders SET amount = 95 WHERE customer_id = 1", "UPDATE orders SET amount = 3 WHERE id = 1",
	"UPDATE orders SET note = 'u' WHERE id = 1", "DELETE FROM customers WHERE id = 1", "DELETE FROM customers", "DELETE FROM r WHERE id = 1", "REPLACE INTO customers (id, name) VALUES (1, 'z')",
	"DELETE IGNORE FROM customers WHERE id = 1", "SELECT id, customer_id, amount FROM orders ORDER BY id, customer_id", "DELETE FROM orders WHERE id > 0", "DELETE FROM customers WHERE id > 0", "DELETE FROM r WHERE id > 0",
}

// constraintAnswer shows all that a client sees of an answer, and the warnings.
func constraintAnswer(t *testing.T, c *mysqltest.RawClient, sql string) string {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	shown := ""
	switch {
	case r.Err != nil:
		return fmt.Sprintf("error %d %s %s", r.Err.Code, r.Err.State, r.Err.Message)
	case r.OK != nil:
		shown = fmt.Sprintf("ok %d", r.OK.AffectedRows)
	default:
		shown = rowsShown(r)
	}
	var warned []string
	for _, row := range must(t, c, "SHOW WARNINGS").Rows {
		warned = append(warned, fmt.Sprint(row...))
	}
	slices.Sort(warned)
	return shown + "\n" + strings.Join(slices.Compact(warned), "\n")
}

// TestConstraints compares migrations with named foreign keys and checks, what is shown of them, and changes that break them, with one server.
func TestConstraints(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := constraintsRig(t, kind)
			for orm, migration := range constraintMigrations {
				if orm == "references" {
					migration = append(slices.Clone(migration), constraintsOfKind[kind]...)
				}
				for _, sql := range slices.Concat([]string{"DROP TABLE IF EXISTS orders", "DROP TABLE IF EXISTS addresses", "DROP TABLE IF EXISTS customers", "DROP TABLE IF EXISTS r"}, constraintTables, migration) {
					statements := []string{sql}
					if sql == "#" {
						statements = constraintsAsked
					}
					for _, sql := range statements {
						want, got := constraintAnswer(t, one, sql), constraintAnswer(t, c, sql)
						if strings.HasPrefix(sql, "DROP TABLE IF") {
							continue
						}
						if want != got {
							t.Errorf("%s: %s: %s\ninstead of %s", orm, sql, got, want)
						}
					}
				}
			}
		})
	}
}

// TestConstraintsFromElsewhere has sub-tables whose constraints were made beside the proxy, by other names than it gives.
func TestConstraintsFromElsewhere(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, nodes := constraintsRig(t, kind)
			for _, sql := range constraintTables[:2] {
				must(t, one, sql)
				must(t, c, sql)
			}
			add := "ADD CONSTRAINT `%s` FOREIGN KEY (customer_id) REFERENCES customers%s (id)"
			must(t, one, "ALTER TABLE orders "+fmt.Sprintf(add, "old", ""))
			must(t, nodes[0], "ALTER TABLE orders_0000 "+fmt.Sprintf(add, "old", "_0000"))
			must(t, nodes[0], "ALTER TABLE orders_0001 "+fmt.Sprintf(add, "old$0001", "_0001"))
			must(t, nodes[1], "ALTER TABLE orders_0002 "+fmt.Sprintf(add, "old", "_0002"))
			must(t, nodes[1], "ALTER TABLE orders_0003 "+fmt.Sprintf(add, "OLD$0003", "_0003"))
			same := func(sql string) {
				t.Helper()
				if want, got := constraintAnswer(t, one, sql), constraintAnswer(t, c, sql); got != want {
					t.Errorf("%s: %s\ninstead of %s", sql, got, want)
				}
			}
			same("SHOW CREATE TABLE orders")
			same("INSERT INTO orders (id, customer_id) VALUES (1, 4)")
			same("ALTER TABLE orders ADD CONSTRAINT OLD FOREIGN KEY (customer_id) REFERENCES customers (id)")
			same("ALTER TABLE orders DROP FOREIGN KEY Old")
			same("DROP INDEX old ON orders")
			same("ALTER TABLE orders ADD CONSTRAINT old FOREIGN KEY (customer_id) REFERENCES customers (id)")
			same("SHOW CREATE TABLE orders")
			if got := column(must(t, nodes[0], "SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' ORDER BY 1")); got != "old$0000 old$0001" {
				t.Error(got)
			}
		})
	}
}

// TestConstraintsInCharsets has names that a client's character set can write, and not.
func TestConstraintsInCharsets(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := constraintsRig(t, kind)
			same := func(sql string) {
				t.Helper()
				if want, got := constraintAnswer(t, one, sql), constraintAnswer(t, c, sql); got != want {
					t.Errorf("%s: %s\ninstead of %s", sql, got, want)
				}
			}
			for _, sql := range append(slices.Clone(constraintTables[:2]), "ALTER TABLE orders ADD CONSTRAINT `"+longConstraint+"` FOREIGN KEY (customer_id) REFERENCES customers (id)") {
				same(sql)
			}
			names := "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME = 'orders' AND CONSTRAINT_SCHEMA = 'shop' ORDER BY 1"
			for _, charset := range []string{"latin1", "gbk", "utf8mb4"} {
				must(t, one, "SET NAMES "+charset)
				must(t, c, "SET NAMES "+charset)
				same(names)
				same("INSERT INTO orders (id, customer_id) VALUES (1, 4)")
				if charset == "utf8mb4" {
					break
				}
				fails(t, c, "ALTER TABLE orders DROP FOREIGN KEY `"+longConstraint+"`", 9012)
				fails(t, c, "ALTER TABLE orders ADD CONSTRAINT x"+longConstraint[1:]+" FOREIGN KEY (customer_id) REFERENCES customers (id)", 9012)
			}
			same("ALTER TABLE orders ADD CONSTRAINT `外键'q` FOREIGN KEY (customer_id) REFERENCES customers (id)")
			same("ALTER TABLE orders DROP FOREIGN KEY `" + longConstraint + "`")
			same(names)
			same("INSERT INTO orders (id, customer_id) VALUES (1, 4)")
			fails(t, c, "ALTER TABLE orders ADD CONSTRAINT `"+strings.Repeat("外", 60)+"` FOREIGN KEY (customer_id) REFERENCES customers (id)", 9012)
			fails(t, c, "ALTER TABLE orders ADD CONSTRAINT f FOREIGN KEY (id) REFERENCES others (id)", 9012)
			must(t, one, "SET NAMES latin1")
			must(t, c, "SET NAMES latin1")
			same("ALTER TABLE orders ADD CONSTRAINT `cl\xe9` FOREIGN KEY (customer_id) REFERENCES customers (id)")
			same("ALTER TABLE orders DROP FOREIGN KEY `cl\xe9`")
		})
	}
}
