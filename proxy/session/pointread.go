package session

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// A point read finds at most one row of one table by a unique key, and calls nothing: pipelined sharing is for these. Whether a
// statement is one, its text tells in part, and its server the rest: EXPLAIN gives the access type const. That is asked once for
// all texts of a digest. MySQL manual: "EXPLAIN Output Format".

// What EXPLAIN has said of the plan that a server has for a pointRead.
const (
	pointUnknown uint32 = iota
	pointAsking
	pointShort
	pointLong
)

const (
	// pointKeep is how long the server's word counts: a key may be dropped.
	pointKeep = time.Minute
	// A digest whose statement was late or did not plainly succeed goes alone for pointAlone, unless pointFine of it were fine
	// since the last time; twice as long each time that this comes again, up to pointKeep. A busy machine makes any statement late
	// now and then, several at a time: those within pointStall of one count as that one.
	pointAlone = time.Second
	pointFine  = 500
	pointStall = 200 * time.Millisecond
	// pointRetry is the time until the server is asked again that could not be asked.
	pointRetry = time.Second
	// pointsMax is how many digests are kept; beyond, all are forgotten.
	pointsMax = 4096
	// pointTimeout bounds the question.
	pointTimeout = 3 * time.Second
	// asksMax is how many questions there may be at a time.
	asksMax = 2
)

// pointRead is what is known of the statements of one digest.
type pointRead struct {
	key   []byte
	state atomic.Uint32
	until atomic.Int64 // as of loopState.now, in nanoseconds
	// Of the loop: when one was not fine, how many were since then, and for how long it had them all go alone.
	bad   time.Duration
	fine  int
	alone time.Duration
}

// pointKey is where a pointRead is found. The setting says in which database and SQL mode a text is read.
type pointKey struct {
	hash    uint64
	setting *backend.Setting
	node    *backend.Node
	// kinds are those of a prepared statement's values, four bits each: they decide whether a key can be used.
	kinds uint64
}

// kindsMax is how many parameters a point read may have.
const kindsMax = 16

// points are those that a loop knows.
type points map[pointKey]*pointRead

// pointText is the length in bytes from which a statement is not sent with others'.
const pointText = 8 << 10

// pointTraits are those that a point read may have.
const pointTraits = sqltext.Param | sqltext.MasterHint

// point gives what is known of the session's statement if that may share a connection with others; else nil.
func (la *laned) point(h *loopState, setting *backend.Setting) *pointRead {
	q, t := &la.client.task().query, &la.client.task().x.target
	if !la.client.snap.Config.PipelinedSharing || q.info.Class != sqltext.Select || q.info.Traits&^pointTraits != 0 || !t.Reads || !la.client.state.Autocommit ||
		q.info.Has(sqltext.Param) && la.client.task().query.st == nil || len(q.text) >= pointText {
		return nil
	}
	if h.snap != la.client.snap {
		h.snap = la.client.snap // nodes and settings of before may be gone
		clear(h.points)
	}
	r := la.findPoint(h, setting)
	if r == nil {
		return nil
	}
	state, over := r.state.Load(), int64(h.now) > r.until.Load()
	if state == pointShort && !over {
		return r
	}
	if state != pointAsking && over {
		r.state.Store(pointAsking)
		la.askPoint(h, r)
	}
	return nil
}

// findPoint looks the statement's digest up, and notes it when it is new.
func (la *laned) findPoint(h *loopState, setting *backend.Setting) *pointRead {
	st := la.client.task().query.st
	k := pointKey{setting: setting, node: la.client.task().x.target.Node}
	if st != nil {
		if st.params > kindsMax {
			return nil
		}
		k.setting = st.setting
		for p := range st.params {
			k.kinds = k.kinds<<4 | uint64(kindOf(st, &la.client.task().execution, p))
		}
	}
	if st != nil && st.point != nil && st.pointOf == k && st.pointIn == h {
		return st.point
	}
	d := &la.client.lookup().digest
	if !la.client.ahead().digested && !d.Scan(la.client.ahead().text, la.client.mode()) || len(d.Key) > shapeKeyMax {
		return nil
	}
	k.hash = d.Hash
	r := h.points[k]
	if r == nil {
		if len(h.points) >= pointsMax {
			clear(h.points)
		}
		r = &pointRead{key: bytes.Clone(d.Key)}
		r.until.Store(-1)
		if !mayBePoint(la.client.task().query.text, la.client.mode()) {
			r.state.Store(pointLong)
			r.until.Store(1<<63 - 1)
		}
		h.points[k] = r
	} else if !bytes.Equal(r.key, d.Key) {
		return nil
	}
	if k.hash = 0; st != nil {
		st.point, st.pointOf, st.pointIn = r, k, h
	}
	return r
}

// mayBePoint tells whether a SELECT may be a point read by its text: it has conditions and calls nothing, as there is no parenthesis.
func mayBePoint(text string, m sqltext.Mode) bool {
	where := false
	for lexer := sqltext.NewLexer(text, m); ; {
		switch t := lexer.Next(); t.Kind {
		case sqltext.KindEOF:
			return where && !lexer.Doubt()
		case sqltext.KindWord:
			where = where || strings.EqualFold(text[t.Pos:t.End], "where")
		case sqltext.KindOp:
			if text[t.Pos] == '(' {
				return false
			}
		}
	}
}

// failed notes that one of the digest's statements was not what it was taken for.
func (r *pointRead) failed(now time.Duration) {
	if r.bad > 0 && now-r.bad < pointStall {
		return
	}
	fine := r.fine
	r.bad, r.fine = now, 0
	if fine >= pointFine {
		r.alone = 0
		return
	}
	r.alone = min(max(2*r.alone, pointAlone), pointKeep)
	r.state.Store(pointLong)
	r.until.Store(int64(now + r.alone))
}

// alwaysAlone notes that the digest's responses are too long to be shared with.
func (r *pointRead) alwaysAlone(now time.Duration) {
	r.state.Store(pointLong)
	r.until.Store(int64(now + pointKeep))
}

// askPoint has a goroutine ask the server.
func (la *laned) askPoint(h *loopState, r *pointRead) {
	select {
	case h.lanes.asks <- struct{}{}:
	default:
		r.state.Store(pointUnknown)
		return
	}
	instance, setting, st := la.client.ahead().instance, la.client.state.Setting(), la.client.task().query.st
	if st != nil {
		setting = st.setting
	}
	text := withValues(la.client.task().query.text, la.client.mode(), func(p int) byte { return kindOf(st, &la.client.task().execution, p) })
	h.lanes.running.Go(func() {
		defer func() { <-h.lanes.asks }()
		short, err := explainsAsPoint(instance, setting, text)
		state, keep := pointLong, pointKeep
		switch {
		case err != nil:
			state, keep = pointUnknown, pointRetry
		case short:
			state = pointShort
		}
		r.until.Store(int64(time.Since(h.start) + keep))
		r.state.Store(state)
	})
}

// withValues copies a text with a value of its kind in the place of each parameter.
func withValues(text string, m sqltext.Mode, kind func(p int) byte) string {
	var b strings.Builder
	from, params := 0, 0
	for lexer := sqltext.NewLexer(text, m); ; {
		switch t := lexer.Next(); t.Kind {
		case sqltext.KindEOF:
			b.WriteString(text[from:])
			return b.String()
		case sqltext.KindParam:
			b.WriteString(text[from:t.Pos])
			b.WriteString(literals[kind(params)])
			from = t.End
			params++
		}
	}
}

// literals are values of the kinds of parameters' values.
var literals = [...]string{
	0: "'1'", kindInteger: "1", kindFloat: "1e0", kindDecimal: "1.0", kindDate: "DATE '2000-01-01'", kindDatetime: "TIMESTAMP '2000-01-01 00:00:00'",
	kindTime: "TIME '00:00:00'", kindText: "'1'",
}

// explainsAsPoint asks a server how it would find the rows of a query: by a unique key from one table, which it then reads
// while it explains, so that a row that is not there shows too.
func explainsAsPoint(instance *backend.Instance, setting *backend.Setting, text string) (bool, error) {
	deadline := time.Now().Add(pointTimeout)
	p, err := instance.Get(setting, deadline, nil)
	if err != nil {
		return false, err
	}
	if err := p.Apply(setting); err != nil {
		p.Taint()
		return false, err
	}
	p.Conn.Net.SetDeadline(deadline)
	kind, extra := -1, -1
	rows, point := 0, false
	err = p.Conn.Table("EXPLAIN FORMAT=TRADITIONAL "+text, func(columns []mysql.ColumnDefinition41) {
		for k := range columns {
			switch strings.ToLower(columns[k].Name) {
			case "type":
				kind = k
			case "extra":
				extra = k
			}
		}
	}, func(cells []string, null []bool) {
		rows++
		point = kind >= 0 && extra >= 0 && (cells[kind] == "const" || null[kind] && strings.Contains(cells[extra], "const table"))
	})
	var sqlErr *mysql.SQLError
	if err != nil && !errors.As(err, &sqlErr) {
		p.Taint()
		return false, err
	}
	p.Conn.Net.SetDeadline(time.Time{})
	p.Put()
	return err == nil && rows == 1 && point, nil
}
