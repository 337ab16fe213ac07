package tpcc

import (
	"database/sql"
	"fmt"
)

// orderStatus is the transaction of clause 2.6: a customer asks about the last order.
type orderStatus struct{ customer chosen }

func drawOrderStatus(r *random, home int) orderStatus {
	return orderStatus{r.choose(home, r.district())}
}

func (t orderStatus) run(s *session) error {
	id, err := t.customer.find(s)
	if err != nil {
		return err
	}
	var names [3]string
	var balance cents
	if err := s.mustRow([]any{&balance, &names[0], &names[1], &names[2]}, `SELECT c_balance, c_first, c_middle, c_last FROM customer
 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, t.customer.warehouse, t.customer.district, id); err != nil {
		return err
	}
	var order, lines int
	var entered string
	var carrier sql.NullInt64
	if err := s.mustRow([]any{&order, &entered, &carrier, &lines}, `SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt FROM orders
 WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1`, t.customer.warehouse, t.customer.district, id); err != nil {
		return err
	}
	return t.lines(s, order, lines)
}

// lines reads those of an order, which are so many.
func (t orderStatus) lines(s *session, order, want int) error {
	rows, err := s.query(`SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, t.customer.warehouse, t.customer.district, order)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var item, supplier, quantity int
		var amount cents
		var delivered sql.NullString
		if err := rows.Scan(&item, &supplier, &quantity, &amount, &delivered); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%w: order %d of district %d of warehouse %d has %d lines, not %d", errWrongAnswer, order, t.customer.district, t.customer.warehouse, n, want)
	}
	return nil
}
