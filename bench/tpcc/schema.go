package tpcc

import (
	"fmt"
	"strings"
)

// DB is the database of the tables.
const DB = "tpcc"

// table is one of the tables, with the column that says of which warehouse a row is; "" if of none.
type table struct {
	name, warehouse, columns string
}

// tables are those of clause 1.3. Foreign keys are not declared, nor need they be.
var tables = []table{
	{"item", "", `i_id INT NOT NULL, i_im_id INT NOT NULL, i_name VARCHAR(24) NOT NULL, i_price DECIMAL(5,2) NOT NULL,
 i_data VARCHAR(50) NOT NULL, PRIMARY KEY (i_id)`},
	{"warehouse", "w_id", `w_id INT NOT NULL, w_name VARCHAR(10) NOT NULL, w_street_1 VARCHAR(20) NOT NULL, w_street_2 VARCHAR(20) NOT NULL,
 w_city VARCHAR(20) NOT NULL, w_state CHAR(2) NOT NULL, w_zip CHAR(9) NOT NULL, w_tax DECIMAL(4,4) NOT NULL, w_ytd DECIMAL(12,2) NOT NULL,
 PRIMARY KEY (w_id)`},
	{"district", "d_w_id", `d_id TINYINT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10) NOT NULL, d_street_1 VARCHAR(20) NOT NULL,
 d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL, d_state CHAR(2) NOT NULL, d_zip CHAR(9) NOT NULL,
 d_tax DECIMAL(4,4) NOT NULL, d_ytd DECIMAL(12,2) NOT NULL, d_next_o_id INT NOT NULL, PRIMARY KEY (d_w_id, d_id)`},
	{"customer", "c_w_id", `c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id INT NOT NULL, c_first VARCHAR(16) NOT NULL,
 c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, c_street_1 VARCHAR(20) NOT NULL, c_street_2 VARCHAR(20) NOT NULL,
 c_city VARCHAR(20) NOT NULL, c_state CHAR(2) NOT NULL, c_zip CHAR(9) NOT NULL, c_phone CHAR(16) NOT NULL, c_since DATETIME NOT NULL,
 c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12,2) NOT NULL, c_discount DECIMAL(4,4) NOT NULL, c_balance DECIMAL(12,2) NOT NULL,
 c_ytd_payment DECIMAL(12,2) NOT NULL, c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL, c_data VARCHAR(500) NOT NULL,
 PRIMARY KEY (c_w_id, c_d_id, c_id), KEY by_name (c_w_id, c_d_id, c_last, c_first)`},
	// It has no key: several rows may be alike.
	{"history", "h_w_id", `h_c_id INT NOT NULL, h_c_d_id TINYINT NOT NULL, h_c_w_id INT NOT NULL, h_d_id TINYINT NOT NULL, h_w_id INT NOT NULL,
 h_date DATETIME NOT NULL, h_amount DECIMAL(6,2) NOT NULL, h_data VARCHAR(24) NOT NULL`},
	{"new_order", "no_w_id", `no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id INT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id)`},
	{"orders", "o_w_id", `o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id INT NOT NULL, o_c_id INT NOT NULL, o_entry_d DATETIME NOT NULL,
 o_carrier_id TINYINT, o_ol_cnt TINYINT NOT NULL, o_all_local TINYINT NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id),
 KEY by_customer (o_w_id, o_d_id, o_c_id, o_id)`},
	{"order_line", "ol_w_id", `ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id INT NOT NULL, ol_number TINYINT NOT NULL,
 ol_i_id INT NOT NULL, ol_supply_w_id INT NOT NULL, ol_delivery_d DATETIME, ol_quantity TINYINT NOT NULL, ol_amount DECIMAL(6,2) NOT NULL,
 ol_dist_info CHAR(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)`},
	{"stock", "s_w_id", `s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity SMALLINT NOT NULL, ` + distColumns() + `s_ytd INT NOT NULL,
 s_order_cnt INT NOT NULL, s_remote_cnt INT NOT NULL, s_data VARCHAR(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)`},
}

// distColumns are the columns of stock with a text for each district.
func distColumns() string {
	var b strings.Builder
	for d := range districtsMax {
		fmt.Fprintf(&b, "%s CHAR(24) NOT NULL, ", distColumn(d+1))
	}
	return b.String()
}

func distColumn(district int) string { return fmt.Sprintf("s_dist_%02d", district) }

// Rules returns the rules of ks.yaml that spread warehouses over nodes, each on one node with all of its rows, and have every item on all
// of them: lines of schema_list[].shard.
func Rules(nodes []string) []string {
	first := ""
	lines := make([]string, len(tables))
	for i, t := range tables {
		switch {
		case t.warehouse == "":
			lines[i] = fmt.Sprintf("{db: %s, table: %s, type: reference}", DB, t.name)
		case first == "":
			first = t.name
			lines[i] = fmt.Sprintf("{db: %s, table: %s, key: %s, nodes: [%s], type: mod}", DB, t.name, t.warehouse, strings.Join(nodes, ", "))
		default:
			lines[i] = fmt.Sprintf("{db: %s, table: %s, key: %s, colocate_with: %s}", DB, t.name, t.warehouse, first)
		}
	}
	return lines
}
