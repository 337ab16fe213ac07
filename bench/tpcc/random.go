package tpcc

import (
	"math/rand/v2"
	"strings"
)

// random draws what clause 2.1 and 4.3.2 tell to draw. It is one goroutine's.
type random struct {
	*rand.Rand
	size Size
	// lastNames is the constant C of last names, one while rows are made and another one while clients run.
	lastNames int
}

// The constants C of NURand, clause 2.1.6. The two for last names must differ by 65 to 119, and neither by 96 nor 112.
const (
	lastNamesLoaded = 90
	lastNamesAsked  = 173
	customerIDs     = 611
	itemIDs         = 4391
)

func newRandom(seed, stream uint64, size Size, lastNames int) *random {
	return &random{Rand: rand.New(rand.NewPCG(seed, stream)), size: size, lastNames: lastNames}
}

// between returns a number from low to high, all alike.
func (r *random) between(low, high int) int { return low + r.IntN(high-low+1) }

// nonUniform is NURand(a, low, high) of clause 2.1.6: some numbers are drawn much more often than others.
func (r *random) nonUniform(a, c, low, high int) int {
	return ((r.between(0, a)|r.between(low, high))+c)%(high-low+1) + low
}

func (r *random) district() int { return r.between(1, r.size.Districts) }
func (r *random) customer() int { return r.nonUniform(1023, customerIDs, 1, r.size.Customers) }
func (r *random) item() int     { return r.nonUniform(8191, itemIDs, 1, r.size.Items) }

// customerName returns a last name that customers of every district have.
func (r *random) customerName() string {
	return lastName(r.nonUniform(255, r.lastNames, 0, r.size.names()-1))
}

// percent reports true n times of 100.
func (r *random) percent(n int) bool { return r.IntN(100) < n }

// otherWarehouse returns a warehouse that is not home, which it returns where there is no other.
func (r *random) otherWarehouse(home int) int {
	if r.size.Warehouses == 1 {
		return home
	}
	w := r.between(1, r.size.Warehouses-1)
	if w >= home {
		w++
	}
	return w
}

// syllables make last names, clause 4.3.2.3: one for each digit.
var syllables = [10]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

func lastName(n int) string { return syllables[n/100] + syllables[n/10%10] + syllables[n%10] }

const (
	digits   = "0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnums   = digits + capitals + "abcdefghijklmnopqrstuvwxyz"
)

// text returns low to high of some characters.
func (r *random) text(of string, low, high int) string {
	b := make([]byte, r.between(low, high))
	for i := range b {
		b[i] = of[r.IntN(len(of))]
	}
	return string(b)
}

// original marks what is sold as a brand.
const original = "ORIGINAL"

// data returns the text of an item or of stock: one of ten is marked as original.
func (r *random) data() string {
	t := r.text(alnums, 26, 50)
	if r.percent(10) {
		at := r.between(0, len(t)-len(original))
		t = t[:at] + original + t[at+len(original):]
	}
	return t
}

func (r *random) zip() string { return r.text(digits, 4, 4) + "11111" }

// address returns two streets, the city, the state and the code, as values of an INSERT.
func (r *random) address() string {
	return strings.Join([]string{
		quoted(r.text(alnums, 10, 20)), quoted(r.text(alnums, 10, 20)), quoted(r.text(alnums, 10, 20)), quoted(r.text(capitals, 2, 2)), quoted(r.zip()),
	}, ",")
}

// quoted makes a literal of a text without quotes or backslashes, as all of ours are.
func quoted(text string) string { return "'" + text + "'" }
