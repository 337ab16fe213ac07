package tpcc

import "fmt"

// Size is how many rows there are at first.
type Size struct {
	Warehouses int
	Districts  int // of each warehouse, at most 10: a row of stock has a column for each
	Customers  int // of each district, each with one order
	Items      int
}

const districtsMax = 10

// Standard returns the specification's size, clause 1.2.1.
func Standard(warehouses int) Size {
	return Size{Warehouses: warehouses, Districts: districtsMax, Customers: 3000, Items: 100_000}
}

// Check reports what is wrong with a size.
func (s Size) Check() error {
	switch {
	case s.Warehouses < 1:
		return fmt.Errorf("%d warehouses, there must be one", s.Warehouses)
	case s.Districts < 1 || s.Districts > districtsMax:
		return fmt.Errorf("%d districts, there must be 1 to %d", s.Districts, districtsMax)
	case s.Customers < 10:
		return fmt.Errorf("%d customers of a district, there must be 10", s.Customers)
	case s.Items < 1:
		return fmt.Errorf("%d items, there must be one", s.Items)
	}
	return nil
}

// delivered is the number of orders of a district that are delivered at first: 7 of 10, as in the specification.
func (s Size) delivered() int { return s.Customers - s.Customers*3/10 }

// names is the number of different last names.
func (s Size) names() int { return min(s.Customers, 1000) }

// orders is the number of all orders at first.
func (s Size) orders() int { return s.Warehouses * s.Districts * s.Customers }
