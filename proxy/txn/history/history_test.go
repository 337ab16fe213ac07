package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A transaction is written as the seconds at which it began and ended, a ! for one that was rolled back or a ? for one of which nobody knows, and what it
// did: x+1 appends 1 to the list x, x=12 reads 1 and 2 there.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		all   []string
		final string
		want  string // the kinds that are found
	}{
		{"serial", []string{"0-1 x+1 y+2", "2-3 x=1 y=2 x+3 x=13", "4-5 x=13 y=2"}, "x=13 y=2", ""},
		{"beside each other", []string{"0-9 x+1 y+2", "0-9 x= y=", "0-9 x=1 y=2"}, "x=1 y=2", ""},
		{"rolled back", []string{"0-1 ! x+1 y+2", "2-3 x= y= x+3"}, "x=3 y=", ""},
		{"unknown and kept", []string{"0-1 ? x+1 y+2", "2-3 x=1 y=2"}, "x=1 y=2", ""},
		{"unknown and not kept", []string{"0-1 ? x+1 y+2", "2-3 x= y="}, "x= y=", ""},
		{"unknown and kept later", []string{"0-1 ? x+1", "2-3 x=", "4-5 x=1"}, "x=1", ""},
		{"write skew", []string{"0-9 x= y+1", "0-9 y= x+2"}, "x=2 y=1", "G2"},
		{"half of a committed one", []string{"0-1 x+1 y+2"}, "x=1 y=", "half"},
		{"half of an unknown one", []string{"0-1 ? x+1 y+2"}, "x= y=2", "half"},
		{"half of one that was rolled back", []string{"0-1 ! x+1 y+2"}, "x= y=2", "G1a half"},
		{"lost", []string{"0-1 x+1 y+2"}, "x= y=", "lost"},
		{"nobody's", []string{"0-1 x+1"}, "x=12", "foreign"},
		{"nobody's and read", []string{"0-1 x+1", "2-3 x=12 x+3"}, "x=123", "foreign"},
		{"twice", []string{"0-1 x+1"}, "x=11", "foreign"},
		{"aborted and there", []string{"0-1 ! x+1"}, "x=1", "G1a"},
		{"aborted and read", []string{"0-1 ! x+1", "0-1 x=1"}, "x=", "G1a"},
		{"unknown, not kept and read", []string{"0-1 ? x+1", "0-1 x=1"}, "x=", "G1a"},
		{"intermediate", []string{"0-9 x+1 x+2", "0-9 x=1"}, "x=12", "G1b G-single"},
		{"dirty writes", []string{"0-9 x+1 y+2", "0-9 x+3 y+4"}, "x=13 y=42", "G0"},
		{"circular information flow", []string{"0-9 x+1 y=2", "0-9 y+2 x=1"}, "x=1 y=2", "G1c"},
		{"append and read", []string{"0-9 x+1 y+2", "0-9 x+3 y=2"}, "x=31 y=2", "G1c"},
		{"fractured read", []string{"0-9 x+1 y+2", "0-9 x=1 y="}, "x=1 y=2", "G-single"},
		{"lost update", []string{"0-9 x= x+1", "0-9 x= x+2"}, "x=12", "G-single"},
		{"not repeatable", []string{"0-9 x+1", "0-9 x= x=1"}, "x=1", "G-single"},
		{"long fork", []string{"0-9 x+1", "0-9 y+2", "0-9 x=1 y=", "0-9 x= y=2"}, "x=1 y=2", "G2"},
		{"another order", []string{"0-9 x+1", "0-9 x+2", "0-9 x=2"}, "x=12", "order"},
		{"forgets its own", []string{"0-9 x+1 x="}, "x=1", "internal"},
		{"its own not last", []string{"0-9 x+1 x=12", "0-9 x+2"}, "x=12", "internal"},
		{"stale", []string{"0-1 x+1", "2-3 x="}, "x=1", "stale real time"},
		{"behind a read", []string{"0-9 x+1", "1-2 x=1", "3-4 x="}, "x=1", "stale real time"},
		{"appended ahead", []string{"0-1 x+1", "2-3 x+2"}, "x=21", "stale real time"},
		{"in real time over two", []string{"0-9 x= y=2", "1-2 x+1", "3-4 y+2"}, "x=1 y=2", "real time"},
		{"unknown has no end", []string{"0-1 ? x+1", "2-3 x=", "4-5 x=1"}, "x=1", ""},
	} {
		h := History{Final: map[int][]int{}}
		for k, text := range test.all {
			h.Transactions = append(h.Transactions, transaction(t, k, text))
		}
		for _, op := range ops(t, strings.Fields(test.final)) {
			h.Final[op.Key] = op.Read
		}
		var kinds []string
		all := h.Check()
		for _, a := range all {
			if !slices.Contains(kinds, string(a.Kind)) {
				kinds = append(kinds, string(a.Kind))
			}
		}
		if got := strings.Join(kinds, " "); got != test.want {
			t.Errorf("%s: found %q, want %q: %v", test.name, got, test.want, all)
		}
	}
}

func transaction(t *testing.T, client int, text string) *Transaction {
	words := strings.Fields(text)
	one := &Transaction{Client: client}
	var from, to int
	if _, err := fmt.Sscanf(words[0], "%d-%d", &from, &to); err != nil {
		t.Fatal(err)
	}
	one.Began, one.Ended = time.Duration(from)*time.Second, time.Duration(to)*time.Second
	switch words = words[1:]; words[0] {
	case "!":
		one.Outcome, words = RolledBack, words[1:]
	case "?":
		one.Outcome, words = Unknown, words[1:]
	}
	one.Ops = ops(t, words)
	return one
}

func ops(t *testing.T, words []string) (list []Op) {
	for _, word := range words {
		op := Op{Key: int(word[0])}
		if word[1] == '+' {
			n, err := strconv.Atoi(word[2:])
			if err != nil {
				t.Fatal(err)
			}
			op.Append = n
		} else {
			for _, digit := range word[2:] {
				op.Read = append(op.Read, int(digit-'0'))
			}
		}
		list = append(list, op)
	}
	return list
}

// What a circle is made of is told, with the transactions that were over between.
func TestCircleIsTold(t *testing.T) {
	h := History{
		Transactions: []*Transaction{transaction(t, 7, "0-9 x= y=2"), transaction(t, 8, "1-2 x+1"), transaction(t, 9, "3-4 y+2")},
		Final:        map[int][]int{'x': {1}, 'y': {2}},
	}
	const want = "[real time: T0 (client 7, 0s to 9s) -rw of list 120-> T1 (client 8, 1s to 2s) was over before T2 (client 9, 3s to 4s) -wr of list 121-> T0 (client 7, 0s to 9s)]"
	if got := fmt.Sprint(h.Check()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// A serial run of many transactions has no anomaly, and one of which two reads have changed places has.
func TestSerialRun(t *testing.T) {
	lists := map[int][]int{}
	h := History{Final: lists}
	for k := range 5000 {
		one := &Transaction{Client: k % 10, Began: time.Duration(10 * k), Ended: time.Duration(10*k + 15)}
		for n := range 3 {
			key := (k*7 + n*3) % 50
			if n == 0 {
				lists[key] = append(lists[key], k+1)
				one.Ops = append(one.Ops, Op{Key: key, Append: k + 1})
			} else {
				one.Ops = append(one.Ops, Op{Key: key, Read: slices.Clone(lists[key])})
			}
		}
		h.Transactions = append(h.Transactions, one)
	}
	if found := h.Check(); len(found) > 0 {
		t.Fatalf("%d anomalies, first %v", len(found), found[0])
	}
	early := &h.Transactions[4000].Ops[1]
	early.Read = early.Read[:len(early.Read)-2]
	if found := h.Check(); len(found) == 0 {
		t.Error("nothing was found")
	}
}
