package tpch

import (
	"fmt"
	"strings"
)

// DB is the database of the tables.
const DB = "tpch"

// table is a table of the schema.
type table struct {
	name string
	// key is the sharding key, "" of what all nodes have; with is the table whose rows it lies beside, "" for its own.
	key, with  string
	definition string
}

// tables are in the order in which rows refer to each other. Foreign keys are indexes: shards cannot have them.
var tables = []table{
	{"region", "", "", "r_regionkey INT PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152) NOT NULL"},
	{"nation", "", "", "n_nationkey INT PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, n_comment VARCHAR(152) NOT NULL, KEY (n_regionkey)"},
	{"supplier", "s_suppkey", "", "s_suppkey INT PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_nationkey INT NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL, KEY (s_nationkey)"},
	{"part", "p_partkey", "", "p_partkey INT PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL, p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL"},
	{"partsupp", "ps_partkey", "part", "ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey), KEY (ps_suppkey)"},
	{"customer", "c_custkey", "", "c_custkey INT PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, c_nationkey INT NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL, KEY (c_nationkey)"},
	{"orders", "o_orderkey", "", "o_orderkey BIGINT PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL, o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL, o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL, KEY (o_custkey)"},
	{"lineitem", "l_orderkey", "orders", "l_orderkey BIGINT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL, l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber), KEY (l_partkey, l_suppkey), KEY (l_suppkey)"},
}

// Rules returns the rules of ks.yaml that spread the tables over nodes: orders with their lines, parts with who supplies them, customers and suppliers by themselves, and nations and regions on all
// of them. They are lines of schema_list[].shard.
func Rules(nodes []string) []string {
	lines := make([]string, len(tables))
	for i, t := range tables {
		switch {
		case t.key == "":
			lines[i] = fmt.Sprintf("{db: %s, table: %s, type: reference}", DB, t.name)
		case t.with == "":
			lines[i] = fmt.Sprintf("{db: %s, table: %s, key: %s, nodes: [%s], type: mod}", DB, t.name, t.key, strings.Join(nodes, ", "))
		default:
			lines[i] = fmt.Sprintf("{db: %s, table: %s, key: %s, colocate_with: %s}", DB, t.name, t.key, t.with)
		}
	}
	return lines
}
