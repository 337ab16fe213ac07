package tpcc

// stockLevel is the transaction of clause 2.8: how many items of a district's last orders are low in stock.
type stockLevel struct{ warehouse, district, threshold int }

func drawStockLevel(r *random, home, district int) stockLevel {
	return stockLevel{home, district, r.between(10, 20)}
}

// lastOrders is how many orders of the district are looked at.
const lastOrders = 20

func (t stockLevel) run(s *session) error {
	var next, low int
	if err := s.mustRow([]any{&next}, `SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?`, t.warehouse, t.district); err != nil {
		return err
	}
	return s.mustRow([]any{&low}, `SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?`,
		t.warehouse, t.district, next-lastOrders, next, t.threshold)
}
