package tpcc

import "fmt"

// payment is the transaction of clause 2.5: a customer pays.
type payment struct {
	warehouse, district int // where
	customer            chosen
	amount              cents
	now                 string
}

// badCredit marks the customers whose payments are written down in their own row.
const badCredit = "BC"

func drawPayment(r *random, home int, remote bool) payment {
	t := payment{warehouse: home, district: r.district(), amount: cents(r.between(1_00, 5000_00)), now: now()}
	if r.percent(15) && remote {
		t.customer = r.choose(r.otherWarehouse(home), r.district())
	} else {
		t.customer = r.choose(home, t.district)
	}
	return t
}

// dataMax is the length of c_data.
const dataMax = 500

func (t payment) run(s *session) error {
	var warehouseName, districtName, credit, data string
	if err := s.exec(1, `UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?`, t.amount, t.warehouse); err != nil {
		return err
	}
	var address [5]string
	street := []any{&address[0], &address[1], &address[2], &address[3], &address[4]}
	if err := s.mustRow(append([]any{&warehouseName}, street...), `SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?`,
		t.warehouse); err != nil {
		return err
	}
	if err := s.exec(1, `UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?`, t.amount, t.warehouse, t.district); err != nil {
		return err
	}
	if err := s.mustRow(append([]any{&districtName}, street...), `SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district
 WHERE d_w_id = ? AND d_id = ?`, t.warehouse, t.district); err != nil {
		return err
	}
	id, err := t.customer.find(s)
	if err != nil {
		return err
	}
	var names [4]string
	var limit, balance cents
	var discount float64
	shown := append([]any{&names[0], &names[1], &names[2], &names[3], &limit, &discount, &balance, &credit}, street...)
	if err := s.mustRow(shown, `SELECT c_first, c_middle, c_last, c_phone, c_credit_lim, c_discount, c_balance, c_credit,
 c_street_1, c_street_2, c_city, c_state, c_zip FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE`,
		t.customer.warehouse, t.customer.district, id); err != nil {
		return err
	}
	if credit == badCredit {
		if err := s.mustRow([]any{&data}, `SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`,
			t.customer.warehouse, t.customer.district, id); err != nil {
			return err
		}
		err = s.exec(1, `UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ?
 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, t.amount, t.amount, t.note(id, data), t.customer.warehouse, t.customer.district, id)
	} else {
		err = s.exec(1, `UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1
 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, t.amount, t.amount, t.customer.warehouse, t.customer.district, id)
	}
	if err != nil {
		return err
	}
	return s.exec(1, `INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		id, t.customer.district, t.customer.warehouse, t.district, t.warehouse, t.now, t.amount, warehouseName+"    "+districtName)
}

// note writes the payment ahead of a customer's data, whose end gets lost.
func (t payment) note(customer int, data string) string {
	data = fmt.Sprintf("%d %d %d %d %d %v|%s", customer, t.customer.district, t.customer.warehouse, t.district, t.warehouse, t.amount, data)
	return data[:min(dataMax, len(data))]
}
