package tpcc

import (
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestRandom: what is drawn is within its bounds, and some of it more often.
func TestRandom(t *testing.T) {
	r := newRandom(1, 1, Standard(4), lastNamesAsked)
	const n = 200_000
	items := make(map[int]int)
	for range n {
		i := r.item()
		if i < 1 || i > 100_000 {
			t.Fatalf("item %d", i)
		}
		items[i]++
		if c := r.customer(); c < 1 || c > 3000 {
			t.Fatalf("customer %d", c)
		}
		if w := r.otherWarehouse(2); w < 1 || w > 4 || w == 2 {
			t.Fatalf("other warehouse %d", w)
		}
	}
	most := 0
	for _, count := range items {
		most = max(most, count)
	}
	if most < 10 { // 2 on average
		t.Errorf("no item of %d was drawn more than %d times", len(items), most)
	}
	if d := lastNamesAsked - lastNamesLoaded; d < 65 || d > 119 || d == 96 || d == 112 {
		t.Errorf("the constants of last names differ by %d", d)
	}
	if w := newRandom(1, 1, Standard(1), 0).otherWarehouse(1); w != 1 {
		t.Errorf("of one warehouse the other one is %d", w)
	}
}

// TestLastName: the specification's example, clause 4.3.2.3.
func TestLastName(t *testing.T) {
	for n, want := range map[int]string{371: "PRICALLYOUGHT", 40: "BARPRESBAR", 0: "BARBARBAR", 999: "EINGEINGEING"} {
		if got := lastName(n); got != want {
			t.Errorf("%d is %s, not %s", n, got, want)
		}
	}
}

// TestData: one of ten texts is marked, at any place.
func TestData(t *testing.T) {
	r := newRandom(1, 1, Standard(1), 0)
	marked := 0
	for range 10_000 {
		d := r.data()
		if len(d) < 26 || len(d) > 50 {
			t.Fatalf("%d characters", len(d))
		}
		if strings.Contains(d, original) {
			marked++
		}
	}
	if marked < 900 || marked > 1100 {
		t.Errorf("%d of 10000 are marked", marked)
	}
}

// TestDraw: of new-orders 1 % are to be rolled back and 1 % of lines are of another warehouse, of payments 15 % are of a customer of another one
// and 60 % by name, all of them local where that is asked for.
func TestDraw(t *testing.T) {
	r := newRandom(1, 1, Standard(3), lastNamesAsked)
	const n = 20_000
	var unused, lines, remote, notLocal, paidRemote, named int
	for range n {
		o := drawNewOrder(r, 2, true)
		for i, line := range o.lines {
			lines++
			if line.supplier != 2 {
				remote++
			}
			if line.item > 100_000 {
				if unused++; i != len(o.lines)-1 {
					t.Fatal("the unused item is not the last")
				}
			}
		}
		if o.allLocal() == 0 {
			notLocal++
		}
		p := drawPayment(r, 2, true)
		if p.customer.warehouse != 2 {
			paidRemote++
		} else if p.customer.district != p.district {
			t.Fatal("a customer of another district of the same warehouse")
		}
		if p.customer.name != "" {
			named++
		}
		if drawNewOrder(r, 2, false).allLocal() != 1 || drawPayment(r, 2, false).customer.warehouse != 2 {
			t.Fatal("not local")
		}
	}
	within := func(what string, got, of int, percent float64) {
		if share := 100 * float64(got) / float64(of); share < percent*0.85 || share > percent*1.15 {
			t.Errorf("%s: %.2f %%, not %g", what, share, percent)
		}
	}
	within("rolled back", unused, n, 1)
	within("lines", lines, n, 1000)
	within("remote lines", remote, lines, 1)
	within("remote orders", notLocal, n, 9.5)
	within("remote payments", paidRemote, n, 15)
	within("by name", named, n, 60)
}

// TestMix: of each hundred transactions as many are of each kind as the specification says, in an order of chance.
func TestMix(t *testing.T) {
	c := client{random: newRandom(1, 1, Standard(1), 0)}
	var hundreds [2][]Kind
	for i := range hundreds {
		var n [kinds]int
		for range 100 {
			k := c.next()
			n[k]++
			hundreds[i] = append(hundreds[i], k)
		}
		if n != mix {
			t.Errorf("%v", n)
		}
	}
	if [100]Kind(hundreds[0]) == [100]Kind(hundreds[1]) {
		t.Error("twice in the same order")
	}
}

func TestCents(t *testing.T) {
	for text, want := range map[string]cents{"0.00": 0, "12.34": 1234, "-10.00": -1000, "-0.05": -5, "5": 500, "1.5": 150, "300000.00": 300000_00} {
		var c cents
		if err := c.Scan([]byte(text)); err != nil || c != want {
			t.Errorf("%s is %d, %v", text, c, err)
		}
	}
	for c, want := range map[cents]string{0: "0.00", 1234: "12.34", -5: "-0.05", -1000: "-10.00"} {
		if c.String() != want {
			t.Errorf("%d is %s", c, c)
		}
	}
	for _, wrong := range []any{[]byte("1.234"), []byte("x"), nil, 5} {
		if err := new(cents).Scan(wrong); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// TestJudge: what a client does about an error, in a transaction and of its COMMIT.
func TestJudge(t *testing.T) {
	refused := func(n uint16) error { return &mysql.MySQLError{Number: n} }
	for _, c := range []struct {
		err            error
		inside, commit verdict
	}{
		{refused(1213), again, again},
		{refused(1205), again, again},
		{refused(9018), again, again},
		{refused(9003), again, unknown},
		{refused(9004), refuse, refuse},
		{refused(9012), refuse, refuse},
		{refused(1064), give, unknown},
		{io.ErrUnexpectedEOF, again, unknown},
		{mysql.ErrInvalidConn, again, unknown},
		{driver.ErrBadConn, again, again},
		{errors.Join(errWrongAnswer, errors.New("no row")), give, unknown},
	} {
		if got := judge(c.err); got != c.inside {
			t.Errorf("%v: %d, not %d", c.err, got, c.inside)
		}
		if got := judgeCommit(c.err); got != c.commit {
			t.Errorf("COMMIT, %v: %d, not %d", c.err, got, c.commit)
		}
	}
}

func TestResult(t *testing.T) {
	r := &Result{Seconds: 30}
	r.Measured[NewOrder] = Count{Committed: 100, RolledBack: 1}
	r.fault(&mysql.MySQLError{Number: 1213, Message: "first"})
	o := &Result{Seconds: 30, Retries: 2}
	o.Measured[NewOrder] = Count{Committed: 50, Unknown: 1}
	o.Latencies[NewOrder] = []time.Duration{3, 1}
	o.fault(&mysql.MySQLError{Number: 1213, Message: "second"})
	o.fault(io.EOF)
	r.Add(o)
	if r.TPM() != 150 || r.Rate(NewOrder) != 2.5 || Total(r.Measured) != (Count{Committed: 150, RolledBack: 1, Unknown: 1}) || r.Retries != 2 {
		t.Errorf("%+v", r)
	}
	if r.Latency(NewOrder, 0) != 1 || r.Latency(NewOrder, 1) != 3 || r.Latency(Payment, 0.5) != 0 {
		t.Errorf("%v", r.Latencies)
	}
	if f := r.Errors["1213"]; f.Count != 2 || !strings.Contains(f.First, "first") || strings.Join(r.Faults(), " ") != "1213 connection" {
		t.Errorf("%+v", r.Errors)
	}
}

// TestSize: sizes that cannot be are refused.
func TestSize(t *testing.T) {
	if err := Standard(1).Check(); err != nil {
		t.Error(err)
	}
	for _, s := range []Size{{}, {1, 11, 3000, 100}, {1, 10, 9, 100}, {1, 10, 3000, 0}, {0, 10, 3000, 100}} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
