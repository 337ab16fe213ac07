package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Loading is how tables are filled.
type Loading struct {
	Size    Size
	Clients int // how many fill warehouses at the same time; 0 is one
	Seed    uint64
}

// amounts of the first rows, clause 4.3.3.1.
const (
	firstPayment = cents(10_00) // of every customer
	creditLimit  = cents(50_000_00)
)

// Load makes all tables, in a database that is there and has none of them, and fills them. The first error ends it.
func Load(ctx context.Context, db *sql.DB, l Loading) error {
	if err := l.Size.Check(); err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+t.name+" ("+t.columns+")"); err != nil {
			return fmt.Errorf("make the table %s: %w", t.name, err)
		}
	}
	items := loader{ctx: ctx, db: db, size: l.Size, random: newRandom(l.Seed, 0, l.Size, lastNamesLoaded), now: now()}
	if err := items.items(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range max(1, l.Clients) {
		group.Go(func() {
			for w := next.Add(1); w <= int64(l.Size.Warehouses) && ctx.Err() == nil; w = next.Add(1) {
				one := loader{ctx: ctx, db: db, size: l.Size, random: newRandom(l.Seed, uint64(w), l.Size, lastNamesLoaded), now: now()}
				if err := one.warehouse(int(w)); err != nil {
					cancel(fmt.Errorf("warehouse %d: %w", w, err))
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// now is the time as a column of DATETIME has it.
func now() string { return time.Now().UTC().Format(time.DateTime) }

// loader fills tables with rows of its own random numbers.
type loader struct {
	ctx    context.Context
	db     *sql.DB
	size   Size
	random *random
	now    string
}

// batch is an INSERT that grows row by row and is sent when it is long.
type batch struct {
	*loader
	head string
	text strings.Builder
	err  error // the first
}

// batchBytes is about how long an INSERT is.
const batchBytes = 100_000

func (l *loader) into(table string) *batch {
	return &batch{loader: l, head: "INSERT INTO " + table + " VALUES "}
}

// row adds a row, its values as a list of literals.
func (b *batch) row(format string, args ...any) {
	if b.err != nil {
		return
	}
	if b.text.Len() == 0 {
		b.text.WriteString(b.head)
	} else {
		b.text.WriteByte(',')
	}
	b.text.WriteByte('(')
	fmt.Fprintf(&b.text, format, args...)
	b.text.WriteByte(')')
	if b.text.Len() > batchBytes {
		b.send()
	}
}

func (b *batch) send() {
	_, b.err = b.db.ExecContext(b.ctx, b.text.String())
	b.text.Reset()
}

// end sends what is left, and returns the first error of the batch.
func (b *batch) end() error {
	if b.err == nil && b.text.Len() > 0 {
		b.send()
	}
	if b.err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(b.head, " VALUES "), b.err)
	}
	return nil
}

func (l *loader) items() error {
	to, r := l.into("item"), l.random
	for i := 1; i <= l.size.Items; i++ {
		to.row("%d,%d,'%s',%s,'%s'", i, r.between(1, 10_000), r.text(alnums, 14, 24), cents(r.between(1_00, 100_00)), r.data())
	}
	return to.end()
}

// warehouse fills all tables but item with the rows of one warehouse.
func (l *loader) warehouse(w int) error {
	r := l.random
	to := l.into("warehouse")
	to.row("%d,'%s',%s,%s,%s", w, r.text(alnums, 6, 10), r.address(), l.tenthousandths(0, 2000), firstPayment*cents(l.size.Districts*l.size.Customers))
	if err := errors.Join(to.end(), l.stock(w)); err != nil {
		return err
	}
	to = l.into("district")
	for d := 1; d <= l.size.Districts; d++ {
		to.row("%d,%d,'%s',%s,%s,%s,%d", d, w, r.text(alnums, 6, 10), r.address(), l.tenthousandths(0, 2000),
			firstPayment*cents(l.size.Customers), l.size.Customers+1)
	}
	if err := to.end(); err != nil {
		return err
	}
	for d := 1; d <= l.size.Districts; d++ {
		if err := errors.Join(l.customers(w, d), l.orders(w, d)); err != nil {
			return err
		}
	}
	return nil
}

// tenthousandths returns a random tax or discount.
func (l *loader) tenthousandths(low, high int) string {
	return fmt.Sprintf("0.%04d", l.random.between(low, high))
}

func (l *loader) stock(w int) error {
	to, r := l.into("stock"), l.random
	for i := 1; i <= l.size.Items; i++ {
		var dist strings.Builder
		for range districtsMax {
			dist.WriteString(quoted(r.text(alnums, 24, 24)) + ",")
		}
		to.row("%d,%d,%d,%s0,0,0,'%s'", i, w, r.between(10, 100), dist.String(), r.data())
	}
	return to.end()
}

// customers makes those of a district, and what each has paid.
func (l *loader) customers(w, d int) error {
	customer, history, r := l.into("customer"), l.into("history"), l.random
	for c := 1; c <= l.size.Customers; c++ {
		name, credit := r.customerName(), "GC"
		if c <= l.size.names() {
			name = lastName(c - 1) // so that nobody is asked for in vain
		}
		if r.percent(10) {
			credit = badCredit
		}
		customer.row("%d,%d,%d,'%s','OE','%s',%s,'%s','%s','%s',%s,%s,%s,%s,1,0,'%s'", c, d, w, r.text(alnums, 8, 16), name, r.address(),
			r.text(digits, 16, 16), l.now, credit, creditLimit, l.tenthousandths(0, 5000), -firstPayment, firstPayment, r.text(alnums, 300, 500))
		history.row("%d,%d,%d,%d,%d,'%s',%s,'%s'", c, d, w, d, w, l.now, firstPayment, r.text(alnums, 12, 24))
	}
	return errors.Join(customer.end(), history.end())
}

// orders makes one for each customer of a district, the newest of which are not delivered.
func (l *loader) orders(w, d int) error {
	order, line, undelivered, r := l.into("orders"), l.into("order_line"), l.into("new_order"), l.random
	for i, c := range r.Perm(l.size.Customers) {
		o, lines := i+1, r.between(linesMin, linesMax)
		carrier, delivered := fmt.Sprint(r.between(1, carriers)), quoted(l.now)
		if o > l.size.delivered() {
			carrier, delivered = "NULL", "NULL"
			undelivered.row("%d,%d,%d", o, d, w)
		}
		order.row("%d,%d,%d,%d,'%s',%s,%d,1", o, d, w, c+1, l.now, carrier, lines)
		for n := range lines {
			amount := cents(0)
			if o > l.size.delivered() {
				amount = cents(r.between(1, 9_999_99))
			}
			line.row("%d,%d,%d,%d,%d,%d,%s,5,%s,'%s'", o, d, w, n+1, r.between(1, l.size.Items), w, delivered, amount, r.text(alnums, 24, 24))
		}
	}
	return errors.Join(order.end(), line.end(), undelivered.end())
}
