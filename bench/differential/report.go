package differential

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kingshard/mysql"
)

// Report is the outcome of a round, or of several added up.
type Report struct {
	Statements int // that the subject was asked, those of shrinking apart
	Drawing    int // of the statements, those with rows that leave their ids to a sharded table
	Equal      int
	Errors     int            // of the equal ones, those that both sides answered with an error
	Refused    map[string]int // by code and beginning of the message
	// Planned are those of the equal ones that the oracle gives itself, but under another plan than it chose; by the kind of
	// the difference.
	Planned  map[string]int
	Waits    int            // statements that waited for a lock in vain on one side alone
	Failures []Failure      // the first of each sort
	Repeated map[string]int // further failures, by kind: of a sort that is there, or too many to be made shorter

	shrunk int
}

// Failure is a scenario on which the two sides differ.
type Failure struct {
	Difference
	Seed       uint64 // of the schema, rows and statements
	Database   string
	Shards     int    // 0 without sharding
	Mode       string // sql_mode, "" for the server's
	At         int    // statements that had run before
	Original   []string
	Statements []string // the shortest that fail in the same way; none for what a check of all tables found
	// Once says that the failure did not come again from the first rows of the tables, and so was not made shorter.
	Once bool

	more bool // one too many to be made shorter
}

func newReport() *Report {
	return &Report{Refused: map[string]int{}, Planned: map[string]int{}, Repeated: map[string]int{}}
}

// refuse counts a refusal by what its message says without names and numbers.
func (r *Report) refuse(e *mysql.SQLError) {
	r.Refused[fmt.Sprintf("%d %s", e.Code, maskMessage(e.Message))]++
}

// fail notes a failure, or counts it if one of its sort is there.
func (r *Report) fail(f Failure) {
	if f.more || r.known(f) {
		r.Repeated[f.Kind]++
		return
	}
	r.Failures = append(r.Failures, f)
}

var keywords = regexp.MustCompile(`\b[A-Z_]{2,}\b`)

// sort is what failures of one cause have in common, mostly: what the proxy says, how definitions differ, or else the
// keywords of the statements.
func (f Failure) sort() string {
	switch {
	case strings.HasPrefix(f.Kind, refusal):
		return f.Kind + ": " + maskMessage(f.Detail)
	case strings.HasPrefix(f.Kind, "metadata"):
		_, fields, _ := strings.Cut(f.Detail, ": ")
		return f.Kind + ": " + maskMessage(fields)
	}
	return f.Kind + ": " + strings.Join(keywords.FindAllString(quoted.ReplaceAllString(strings.Join(f.Statements, "; "), ""), -1), " ")
}

// known tells whether a failure of the same sort is there.
func (r *Report) known(f Failure) bool {
	return slices.ContainsFunc(r.Failures, func(k Failure) bool { return k.sort() == f.sort() })
}

// add adds another report.
func (r *Report) add(o *Report) {
	r.Statements += o.Statements
	r.Drawing += o.Drawing
	r.Equal += o.Equal
	r.Errors += o.Errors
	r.Waits += o.Waits
	for text, n := range o.Refused {
		r.Refused[text] += n
	}
	for kind, n := range o.Planned {
		r.Planned[kind] += n
	}
	for _, f := range o.Failures {
		r.fail(f)
	}
	for text, n := range o.Repeated {
		r.Repeated[text] += n
	}
}

// Mismatches is the number of all failures.
func (r *Report) Mismatches() int {
	n := len(r.Failures)
	for _, k := range r.Repeated {
		n += k
	}
	return n
}

// String is the report for people: counts, refusals by frequency, and each failure with what runs it again.
func (r *Report) String() string {
	var b strings.Builder
	refused := 0
	for _, n := range r.Refused {
		refused += n
	}
	fmt.Fprintf(&b, "%d statements, %d of them with ids to draw: %d equal (%d of them errors), %d refused (%.2f%%), %d failures\n",
		r.Statements, r.Drawing, r.Equal, r.Errors, refused, 100*float64(refused)/float64(max(r.Statements, 1)), r.Mismatches())
	texts := slices.SortedFunc(maps.Keys(r.Refused), func(x, y string) int {
		if d := r.Refused[y] - r.Refused[x]; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	for _, text := range texts {
		fmt.Fprintf(&b, "%8d refused: %s\n", r.Refused[text], text)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Planned)) {
		fmt.Fprintf(&b, "%8d equal to what the server answers under another plan: %s\n", r.Planned[kind], kind)
	}
	if r.Waits > 0 {
		fmt.Fprintf(&b, "%8d waited for a lock in vain on one side alone\n", r.Waits)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Repeated)) {
		fmt.Fprintf(&b, "%8d more failures: %s\n", r.Repeated[kind], kind)
	}
	for _, f := range r.Failures {
		b.WriteString(f.String())
	}
	return b.String()
}

// String is the failure for people.
func (f Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nFAILURE %s\n  %s\n  KS_DIFF_SEED=%d, database %s over %d shards, sql_mode %q, after %d statements\n", f.Kind, f.Detail, f.Seed, f.Database, f.Shards, f.Mode, f.At)
	if f.Once {
		b.WriteString("  (not again from the first rows)\n")
	}
	for _, sql := range f.Statements {
		fmt.Fprintf(&b, "  %s;\n", sql)
	}
	if !slices.Equal(f.Statements, f.Original) {
		fmt.Fprintf(&b, "  made of: %s\n", strings.Join(f.Original, "; "))
	}
	return b.String()
}
