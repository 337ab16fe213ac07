package tpcc

import (
	"database/sql"
	"errors"
)

// delivery is the transaction of clause 2.7: the oldest order of each district is delivered, all in one transaction of the database.
type delivery struct {
	warehouse, districts, carrier int
	now                           string
}

// carriers is the number of those who deliver.
const carriers = 10

func drawDelivery(r *random, home int) delivery {
	return delivery{warehouse: home, districts: r.size.Districts, carrier: r.between(1, carriers), now: now()}
}

func (t delivery) run(s *session) error {
	for d := 1; d <= t.districts; d++ {
		if err := t.deliver(s, d); err != nil {
			return err
		}
	}
	return nil
}

// deliver delivers the oldest order of a district, if there is one. What it reads it locks: a read without a lock shows rows as they were
// when the transaction read first, when the order may not have been there.
func (t delivery) deliver(s *session, d int) error {
	var order, customer int
	var lines int64
	err := s.row([]any{&order}, `SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE`, t.warehouse, d)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.exec(1, `DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?`, t.warehouse, d, order); err != nil {
		return err
	}
	if err := s.mustRow([]any{&customer, &lines}, `SELECT o_c_id, o_ol_cnt FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE`,
		t.warehouse, d, order); err != nil {
		return err
	}
	if err := s.exec(1, `UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?`, t.carrier, t.warehouse, d, order); err != nil {
		return err
	}
	if err := s.exec(lines, `UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, t.now, t.warehouse, d, order); err != nil {
		return err
	}
	var sum cents
	if err := s.mustRow([]any{&sum}, `SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, t.warehouse, d, order); err != nil {
		return err
	}
	return s.exec(1, `UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`,
		sum, t.warehouse, d, customer)
}
