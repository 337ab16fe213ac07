package tpcc

import "errors"

// Kind is one of the five transactions.
type Kind int

// The transactions, clauses 2.4 to 2.8.
const (
	NewOrder Kind = iota
	Payment
	OrderStatus
	Delivery
	StockLevel
	kinds
)

// Kinds are all of them, in the order of the specification.
var Kinds = []Kind{NewOrder, Payment, OrderStatus, Delivery, StockLevel}

// String returns a kind's name in the specification, in small letters with a hyphen.
func (k Kind) String() string {
	return [kinds]string{"new-order", "payment", "order-status", "delivery", "stock-level"}[k]
}

// mix is how many of 100 transactions are of each kind, clause 5.2.3.
var mix = [kinds]int{NewOrder: 45, Payment: 43, OrderStatus: 4, Delivery: 4, StockLevel: 4}

// transaction is what happens between BEGIN and COMMIT, with input that has been drawn: it can be run again.
type transaction interface {
	run(s *session) error
}

// errUnusedItem ends a new-order that orders what there is not: the client rolls it back, as 1 of 100 must be.
var errUnusedItem = errors.New("the item is not used")

// draw draws the input of a transaction of a client.
func (c *client) draw(k Kind) transaction {
	switch k {
	case NewOrder:
		return drawNewOrder(c.random, c.home, c.remote)
	case Payment:
		return drawPayment(c.random, c.home, c.remote)
	case OrderStatus:
		return drawOrderStatus(c.random, c.home)
	case Delivery:
		return drawDelivery(c.random, c.home)
	case StockLevel:
		return drawStockLevel(c.random, c.home, c.district)
	}
	panic("tpcc: no such transaction")
}

// chosen is a customer by id, or by last name where that is not "".
type chosen struct {
	warehouse, district, id int
	name                    string
}

// choose draws a customer of a district: 60 of 100 by their name.
func (r *random) choose(warehouse, district int) chosen {
	c := chosen{warehouse: warehouse, district: district}
	if r.percent(60) {
		c.name = r.customerName()
	} else {
		c.id = r.customer()
	}
	return c
}

const customersByName = `SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first`

// find returns the customer's id: of several with a name the one in the middle, by first names.
func (c chosen) find(s *session) (int, error) {
	if c.name == "" {
		return c.id, nil
	}
	rows, err := s.query(customersByName, c.warehouse, c.district, c.name)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var ids []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if len(ids) == 0 {
		return 0, errors.Join(errWrongAnswer, errors.New("no customer has the name "+c.name))
	}
	return ids[(len(ids)+1)/2-1], nil
}
