package tpch

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// generator draws the rows of all tables for one seed, the same each time.
type generator struct {
	rng       *rand.Rand
	scale     float64
	b         strings.Builder // a row of VALUES
	suppliers int
	parts     int
	customers int
}

func newGenerator(scale float64, seed uint64) *generator {
	of := func(n float64) int { return max(1, int(n*scale)) }
	return &generator{rng: rand.New(rand.NewPCG(seed, 1)), scale: scale, suppliers: max(10, of(10000)), parts: of(200000), customers: of(150000)}
}

// between draws a number from low to high.
func (g *generator) between(low, high int) int { return low + g.rng.IntN(high-low+1) }

func (g *generator) of(words []string) string { return words[g.rng.IntN(len(words))] }

// cents draws an amount.
func (g *generator) cents(low, high int) string { return amount(g.between(low, high)) }

// amount writes a number of cents.
func amount(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// text draws words of at most so many bytes.
func (g *generator) text(most int) string {
	var b strings.Builder
	for want := g.between(most*2/5, most); ; {
		w := g.of(filler)
		if b.Len()+1+len(w) > want {
			return b.String()
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
}

// phone draws a number of a nation.
func (g *generator) phone(nation int) string {
	return fmt.Sprintf("%d-%d-%d-%d", 10+nation, g.between(100, 999), g.between(100, 999), g.between(1000, 9999))
}

// row writes a row of VALUES: numbers as they are, texts in quotes.
func (g *generator) row(values ...any) string {
	g.b.Reset()
	g.b.WriteByte('(')
	for k, v := range values {
		if k > 0 {
			g.b.WriteByte(',')
		}
		switch v := v.(type) {
		case int:
			g.b.WriteString(strconv.Itoa(v))
		case string:
			g.b.WriteString("'" + v + "'")
		case time.Time:
			g.b.WriteString("'" + v.Format(time.DateOnly) + "'")
		}
	}
	g.b.WriteByte(')')
	return g.b.String()
}

// rows calls each for the rows of all tables.
func (g *generator) rows(each func(table, row string) error) error {
	for k, name := range regions {
		if err := each("region", g.row(k, name, g.text(60))); err != nil {
			return err
		}
	}
	for k, n := range nations {
		if err := each("nation", g.row(k, n.name, n.region, g.text(60))); err != nil {
			return err
		}
	}
	for _, fill := range []func(func(table, row string) error) error{g.supplierRows, g.partRows, g.customerRows, g.orderRows} {
		if err := fill(each); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) supplierRows(each func(table, row string) error) error {
	for k := 1; k <= g.suppliers; k++ {
		comment := g.text(80)
		if g.rng.IntN(200) == 0 {
			comment = "Customer quickly Complaints"
		}
		nation := g.rng.IntN(len(nations))
		if err := each("supplier", g.row(k, fmt.Sprintf("Supplier#%09d", k), g.text(30), nation, g.phone(nation), g.cents(-99999, 999999), comment)); err != nil {
			return err
		}
	}
	return nil
}

// price is the retail price of a part in cents.
func price(part int) int { return 90000 + part/10%20001 + 100*(part%1000) }

// supplierOf is the k-th of the four suppliers of a part, which are different ones.
func (g *generator) supplierOf(part, k int) int {
	s := g.suppliers
	step := s/4 + (part-1)/s%(s/4)
	if 3*step%s == 0 {
		step++
	}
	return (part+k*step)%s + 1
}

func (g *generator) partRows(each func(table, row string) error) error {
	for k := 1; k <= g.parts; k++ {
		names := make([]string, 5)
		for i, at := range g.rng.Perm(len(colors))[:5] {
			names[i] = colors[at]
		}
		m := g.between(1, 5)
		kind := g.of(typeSizes) + " " + g.of(typeFinishes) + " " + g.of(typeMetals)
		if err := each("part", g.row(k, strings.Join(names, " "), fmt.Sprint("Manufacturer#", m), fmt.Sprintf("Brand#%d%d", m, g.between(1, 5)), kind, g.between(1, 50),
			g.of(containerSizes)+" "+g.of(containerKinds), amount(price(k)), g.text(18))); err != nil {
			return err
		}
		for i := range 4 {
			if err := each("partsupp", g.row(k, g.supplierOf(k, i), g.between(1, 9999), g.cents(100, 100000), g.text(150))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *generator) customerRows(each func(table, row string) error) error {
	for k := 1; k <= g.customers; k++ {
		nation := g.rng.IntN(len(nations))
		if err := each("customer", g.row(k, fmt.Sprintf("Customer#%09d", k), g.text(30), nation, g.phone(nation), g.cents(-99999, 999999), g.of(segments), g.text(100))); err != nil {
			return err
		}
	}
	return nil
}

// The days of orders, and the one that counts as today.
var (
	firstDay = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	today    = time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC)
)

// orderDays is how many days there are orders on.
const orderDays = 2406 - 151 + 1

func (g *generator) orderRows(each func(table, row string) error) error {
	for k := range 10 * g.customers {
		order := k/8*32 + k%8 + 1 // eight of each 32 keys are in use
		customer := g.between(1, g.customers)
		for customer%3 == 0 && g.customers > 2 { // a third of them orders nothing
			customer = g.between(1, g.customers)
		}
		day := firstDay.AddDate(0, 0, g.rng.IntN(orderDays))
		total, open, lines := 0, 0, g.between(1, 7)
		for n := 1; n <= lines; n++ {
			part := g.between(1, g.parts)
			quantity, discount, tax := g.between(1, 50), g.between(0, 10), g.between(0, 8)
			extended := quantity * price(part)
			total += extended * (100 - discount) / 100 * (100 + tax) / 100
			ship := day.AddDate(0, 0, g.between(1, 121))
			commit, receipt := day.AddDate(0, 0, g.between(30, 90)), ship.AddDate(0, 0, g.between(1, 30))
			flag, status := "N", "F"
			if !receipt.After(today) {
				flag = g.of([]string{"R", "A"})
			}
			if ship.After(today) {
				status = "O"
				open++
			}
			if err := each("lineitem", g.row(order, part, g.supplierOf(part, g.rng.IntN(4)), n, quantity, amount(extended), amount(discount), amount(tax), flag, status, ship, commit, receipt,
				g.of(instructions), g.of(modes), g.text(35))); err != nil {
				return err
			}
		}
		status := "P"
		switch open {
		case 0:
			status = "F"
		case lines:
			status = "O"
		}
		if err := each("orders", g.row(order, customer, status, amount(total), day, g.of(priorities), fmt.Sprintf("Clerk#%09d", g.between(1, max(1, int(1000*g.scale)))), 0, g.text(60))); err != nil {
			return err
		}
	}
	return nil
}
