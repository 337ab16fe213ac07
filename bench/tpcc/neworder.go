package tpcc

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// newOrder is the transaction of clause 2.4: a customer orders items from stock.
type newOrder struct {
	warehouse, district, customer int
	lines                         []orderedItem
	now                           string
}

type orderedItem struct{ item, supplier, quantity int }

// The number of lines of an order.
const (
	linesMin = 5
	linesMax = 15
)

func drawNewOrder(r *random, home int, remote bool) newOrder {
	t := newOrder{warehouse: home, district: r.district(), customer: r.customer(), now: now()}
	t.lines = make([]orderedItem, r.between(linesMin, linesMax))
	for i := range t.lines {
		supplier := home
		if r.percent(1) && remote {
			supplier = r.otherWarehouse(home)
		}
		t.lines[i] = orderedItem{item: r.item(), supplier: supplier, quantity: r.between(1, 10)}
	}
	if r.percent(1) {
		t.lines[len(t.lines)-1].item = r.size.Items + 1
	}
	return t
}

// allLocal is 1 if all lines are from the stock of the order's warehouse.
func (t newOrder) allLocal() int {
	for _, line := range t.lines {
		if line.supplier != t.warehouse {
			return 0
		}
	}
	return 1
}

func (t newOrder) run(s *session) error {
	var tax, districtTax, discount float64
	var last, credit string
	var id int
	if err := s.mustRow([]any{&tax}, `SELECT w_tax FROM warehouse WHERE w_id = ?`, t.warehouse); err != nil {
		return err
	}
	if err := s.mustRow([]any{&districtTax, &id}, `SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE`,
		t.warehouse, t.district); err != nil {
		return err
	}
	if err := s.exec(1, `UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?`, t.warehouse, t.district); err != nil {
		return err
	}
	if err := s.mustRow([]any{&discount, &last, &credit}, `SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`,
		t.warehouse, t.district, t.customer); err != nil {
		return err
	}
	if err := s.exec(1, `INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, ?, NULL, ?, ?)`,
		id, t.district, t.warehouse, t.customer, t.now, len(t.lines), t.allLocal()); err != nil {
		return err
	}
	if err := s.exec(1, `INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)`, id, t.district, t.warehouse); err != nil {
		return err
	}
	for i := range t.lines {
		if err := t.order(s, id, i); err != nil {
			return err
		}
	}
	return nil
}

// stockOf and supply are of a line's stock, by the district whose text is wanted.
var stockOf [districtsMax + 1]string

func init() {
	for d := 1; d <= districtsMax; d++ {
		stockOf[d] = fmt.Sprintf(`SELECT s_quantity, s_data, %s FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE`, distColumn(d))
	}
}

// order takes line i of an order from stock.
func (t newOrder) order(s *session, id, i int) error {
	line := t.lines[i]
	var price cents
	var name, itemData, stockData, dist string
	var quantity, remote int
	err := s.row([]any{&price, &name, &itemData}, `SELECT i_price, i_name, i_data FROM item WHERE i_id = ?`, line.item)
	if errors.Is(err, sql.ErrNoRows) {
		return errUnusedItem
	}
	if err != nil {
		return err
	}
	if err := s.mustRow([]any{&quantity, &stockData, &dist}, stockOf[t.district], line.supplier, line.item); err != nil {
		return err
	}
	if quantity < line.quantity+10 {
		quantity += 91
	}
	if line.supplier != t.warehouse {
		remote = 1
	}
	if err := s.exec(1, `UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?
 WHERE s_w_id = ? AND s_i_id = ?`, quantity-line.quantity, line.quantity, remote, line.supplier, line.item); err != nil {
		return err
	}
	return s.exec(1, `INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
 VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)`, id, t.district, t.warehouse, i+1, line.item, line.supplier, line.quantity, price*cents(line.quantity),
		strings.TrimRight(dist, " "))
}
