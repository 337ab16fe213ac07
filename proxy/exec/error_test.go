package exec

import (
	"errors"
	"io"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/router/plan"
)

var (
	errDenied = mysql.NewSQLError(mysql.ERQueryInterrupted, "Query execution was interrupted")
	byFirst   = plan.Merge{Visible: 1, Order: []plan.OrderKey{{}}}
	inTurn    = plan.Merge{Visible: 1}
)

// TestErrorsBeforeRows has errors of which the client has heard nothing when Merge returns, so that it can be told.
func TestErrorsBeforeRows(t *testing.T) {
	good := func() *shard { return &shard{defs: columns("id int"), rows: rows([]string{"1"}, []string{"2"})} }
	failing := good()
	failing.failed = errDenied
	for name, test := range map[string]struct {
		plan   plan.Merge
		shards []*shard
		unread int
	}{
		"in place of columns": {inTurn, []*shard{good(), {refused: errDenied}}, 1},
		"of the first":        {inTurn, []*shard{{refused: errDenied}, good()}, 1},
		"first row":           {byFirst, []*shard{good(), {defs: columns("id int"), failed: errDenied}}, 1},
		"nothing sent yet":    {inTurn, []*shard{failing, good()}, 1},
		"nothing sent, order": {byFirst, []*shard{good(), failing}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, sum, err := run(t, &test.plan, Options{Limit: noLimit}, wholeReads(test.shards)...)
			var sqlErr *mysql.SQLError
			if !errors.As(err, &sqlErr) || *sqlErr != *errDenied {
				t.Fatalf("error %v", err)
			}
			if r != nil || sum.Sent || sum.Rows != 0 || sum.Err != nil || len(sum.Unread) != test.unread {
				t.Errorf("%+v, %+v", r, sum)
			}
		})
	}
}

// wholeReads makes the first read of each response longer than what a connection without a descriptor reads at first, so
// that nothing is flushed between.
func wholeReads(shards []*shard) []*shard {
	for _, s := range shards {
		for i := range s.defs {
			s.defs[i].OrgName = strings.Repeat("x", 100)
		}
	}
	return shards
}

// longRows are more bytes than are ever held back.
func longRows() *shard {
	s := &shard{defs: columns("s bytes")}
	for range 100 {
		s.rows = append(s.rows, rows([]string{strings.Repeat("a", 1000)})...)
	}
	return s
}

func TestErrorsAmidRows(t *testing.T) {
	for name, p := range map[string]*plan.Merge{"in turn": &inTurn, "in order": &byFirst} {
		t.Run(name, func(t *testing.T) {
			failing := longRows()
			failing.failed = errDenied
			other := &shard{defs: columns("s bytes"), rows: rows([]string{"b"})}
			r, sum, err := run(t, p, Options{Limit: noLimit}, failing, other)
			if err != nil || sum.Err == nil || *sum.Err != *errDenied || !sum.Sent {
				t.Fatalf("%v, %+v", err, sum)
			}
			if r.Err == nil || *r.Err != *errDenied || len(r.Rows) != 100 || sum.Rows != 100 {
				t.Errorf("%d rows of %d, then %v", len(r.Rows), sum.Rows, r.Err)
			}
			if len(sum.Unread) != 1 || sum.Unread[0] != 1 {
				t.Errorf("unread %v", sum.Unread)
			}
		})
	}
}

func TestBrokenShards(t *testing.T) {
	malformed := longRows()
	malformed.defs = columns("s int")
	cut := longRows()
	cut.cut = true
	more := longRows()
	more.status = mysql.ServerMoreResultsExists
	for name, test := range map[string]struct {
		shard *shard
		cause error
	}{
		"cut":        {cut, io.EOF},
		"malformed":  {malformed, mysql.ErrMalformedPacket},
		"two at all": {more, errMore},
	} {
		_, sum, err := run2(t, &byFirst, test.shard)
		var conn *mysql.ConnError
		if !errors.As(err, &conn) || conn.Side != mysql.BackendSide || !errors.Is(err, test.cause) || len(sum.Unread) != 1 || sum.Unread[0] != 0 {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
}

// run2 merges without looking at what the client got.
func run2(t *testing.T, p *plan.Merge, s *shard) (*client, Summary, error) {
	t.Helper()
	c := newClient(withoutEOF)
	source, _ := s.source()
	sum, err := mergeAndFlush(c.conn, []*Source{source}, p, Options{Limit: noLimit})
	return c, sum, err
}

// TestResponsesThatAreNoRows are refused before anything is sent.
func TestResponsesThatAreNoRows(t *testing.T) {
	for name, first := range map[string]string{
		"OK": "\x00\x00\x00\x02\x00\x00\x00", "local infile": "\xfbfile", "EOF": "\xfe\x00\x00\x02\x00",
		"no columns": "\xfc\x00\x00", "too many": "\xfd\x00\x00\x01", "garbage behind": "\x01\x01", "huge": "\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		s, mem := (&shard{defs: columns("id int")}).source()
		mem.in = append([]byte{byte(len(first)), 0, 0, 1}, first...)
		c := newClient(withoutEOF)
		sum, err := mergeAndFlush(c.conn, []*Source{s}, &inTurn, Options{Limit: noLimit})
		var conn *mysql.ConnError
		if !errors.As(err, &conn) || sum.Sent || len(sum.Unread) != 1 || c.conn.Pending() > 0 {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
}

// TestClientGone stops reading the shards soon after the client's connection failed.
func TestClientGone(t *testing.T) {
	s := longRows()
	for range 10 {
		s.rows = append(s.rows, s.rows[:100]...)
	}
	source, mem := s.source()
	total := len(mem.in)
	c := newClient(withoutEOF)
	c.mem.err = io.ErrClosedPipe
	_, err := mergeAndFlush(c.conn, []*Source{source}, &inTurn, Options{Limit: noLimit})
	var conn *mysql.ConnError
	if !errors.As(err, &conn) || conn.Side != mysql.ClientSide {
		t.Fatalf("error %v", err)
	}
	if read := total - len(mem.in); read > 2*flushEvery {
		t.Errorf("%d bytes read of the shard", read)
	}
}

func TestSumOutOfRange(t *testing.T) {
	nines := strings.Repeat("9", 81)
	p := plan.Merge{Visible: 1, Aggregates: []plan.Aggregate{{Func: plan.Sum}}}
	s := &shard{defs: columns("d decimal 0"), rows: rows([]string{nines}, []string{nines})}
	_, _, err := run(t, &p, Options{Limit: noLimit}, wholeReads([]*shard{s})...)
	var sqlErr *mysql.SQLError
	if !errors.As(err, &sqlErr) || sqlErr.Code != erDataOutOfRange || sqlErr.State != "22003" {
		t.Errorf("error %v", err)
	}
}
