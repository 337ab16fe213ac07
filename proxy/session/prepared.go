package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// preparePlan sends the preparation of a statement on sharded tables to a server with the names that it has there: it
// tells whether the text is right and what its columns are.
func (ss *stmts) preparePlan(q *query) (lacks []router.Shard, err error) {
	if ownPrepared(q.text, q.info.Class, ss.client.mode(), false) {
		q.own = true
		return nil, nil
	}
	if !ss.client.schema.Plans.mayConcern(q, ss.client.state.DB(), ss.client.mode()) || ss.routing.namesNode(q) {
		return nil, nil
	}
	if err := ss.exchanges.leases.learnCharset(); err != nil {
		return nil, err
	}
	if c, err := ss.routing.catalogOf(q.text, q.info.Class, ss.client.mode(), ss.client.state.DB()); err != nil {
		return nil, err
	} else if c != nil {
		q.logical, q.node = q.text, ss.client.schema.Default
		return nil, nil
	}
	if q.info.Class == sqltext.Show && mayAskCatalog(q.text, q.info.Class, ss.client.mode(), ss.client.state.DB()) {
		return nil, nil
	}
	p, err := ss.client.schema.Plans.get(q.text, ss.client.state.DB(), ss.client.mode())
	if err != nil {
		return nil, ss.exchanges.leases.unreadable(q.text, err)
	}
	if p == nil {
		return nil, nil
	}
	switch p.Statement.Kind {
	case sqlparse.Explain:
		q.own = true
		return nil, nil
	case sqlparse.SelectKind, sqlparse.InsertKind, sqlparse.UpdateKind, sqlparse.DeleteKind, sqlparse.Describe, sqlparse.DDL, sqlparse.TruncateKind,
		sqlparse.Maintain:
	default:
		return nil, mysql.NewSQLError(mysql.ERUnsupportedPS, "This command is not supported in the prepared statement protocol yet")
	}
	if _, refused := p.Operator.(plan.Refused); refused && (p.Apart() || !p.MayBeOne()) {
		return nil, newError(KSRefusedSharding, p.Reason)
	}
	q.logical = q.text
	one, lacks := p.Sample()
	ss.routing.oneShard(q, &one, p)
	return lacks, nil
}

// boundExecution is an execution of a prepared statement with its values taken apart. They lie in the client's packet.
type boundExecution struct {
	st     *stmt
	ex     *execution
	args   []value.Value
	values [][]byte // encoded, by parameter; nil for NULL and long data
}

// release lets go of the execution, and of memory that is more than most need.
func (b *boundExecution) release() {
	clear(b.args)
	clear(b.values)
	b.st, b.ex = nil, nil
	if cap(b.args) > digestMax {
		b.args, b.values = nil, nil
	}
}

// bind decodes the values of an execution. They live until the command ends.
func (ro *routing) bind(st *stmt, ex *execution) (*boundExecution, error) {
	b := &ro.client.lookup().bound
	return b, ro.bindTo(b, st, ex)
}

// bindTo is bind into b.
func (ro *routing) bindTo(b *boundExecution, st *stmt, ex *execution) error {
	b.st, b.ex, b.args, b.values = st, ex, b.args[:0], b.values[:0]
	c := mysql.NewCursor(ex.values)
	for k := range st.params {
		var v value.Value
		var encoded []byte
		if data, long := st.long[uint16(k)]; long {
			v = value.NewString(alias(data))
		} else if ex.bitmap[k/8]&(1<<(k%8)) == 0 {
			t, unsigned := mysql.ColumnType(ex.types[2*k]), ex.types[2*k+1]&0x80 != 0
			from, at := c.Pos(), c
			mysql.SkipBinaryValue(&c, t)
			if c.Err() != nil {
				return malformed()
			}
			encoded = ex.values[from:c.Pos()]
			v = boundValue(&at, t, unsigned)
		}
		b.args, b.values = append(b.args, v), append(b.values, encoded)
	}
	return nil
}

// boundValue decodes a value of the binary protocol. MySQL manual: "Binary Protocol Value".
func boundValue(c *mysql.Cursor, t mysql.ColumnType, unsigned bool) value.Value {
	switch t {
	case mysql.TypeNull:
		return value.Value{}
	case mysql.TypeTiny:
		return integer(uint64(c.Uint8()), 8, unsigned)
	case mysql.TypeShort, mysql.TypeYear:
		return integer(uint64(c.Uint16()), 16, unsigned)
	case mysql.TypeLong, mysql.TypeInt24:
		return integer(uint64(c.Uint32()), 32, unsigned)
	case mysql.TypeLongLong:
		return integer(binary.LittleEndian.Uint64(c.Bytes(8)), 64, unsigned)
	case mysql.TypeFloat:
		return value.NewFloat(float64(math.Float32frombits(c.Uint32())))
	case mysql.TypeDouble:
		return value.NewFloat(math.Float64frombits(binary.LittleEndian.Uint64(c.Bytes(8))))
	case mysql.TypeNewDecimal, mysql.TypeDecimal:
		text := alias(c.LenencBytes())
		if !value.IsDecimal(text) {
			return value.NewString(text) // servers take the number that it begins with
		}
		return value.NewDecimal(text)
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp:
		return value.NewTemporal(dateText(c.Bytes(int(c.Uint8()))))
	case mysql.TypeTime:
		return value.NewTemporal(timeText(c.Bytes(int(c.Uint8()))))
	}
	return value.NewString(alias(c.LenencBytes()))
}

func integer(v uint64, bits uint, unsigned bool) value.Value {
	if unsigned {
		return value.NewUint(v)
	}
	return value.NewInt(int64(v<<(64-bits)) >> (64 - bits))
}

func dateText(b []byte) string {
	var v [11]byte
	copy(v[:], b)
	text := fmt.Sprintf("%04d-%02d-%02d", binary.LittleEndian.Uint16(v[:]), v[2], v[3])
	if len(b) > 4 {
		text += fmt.Sprintf(" %02d:%02d:%02d", v[4], v[5], v[6])
	}
	if len(b) > 7 {
		text += fmt.Sprintf(".%06d", binary.LittleEndian.Uint32(v[7:]))
	}
	return text
}

func timeText(b []byte) string {
	var v [12]byte
	copy(v[:], b)
	sign := ""
	if v[0] != 0 {
		sign = "-"
	}
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, 24*binary.LittleEndian.Uint32(v[1:])+uint32(v[5]), v[6], v[7])
	if len(b) > 8 {
		text += fmt.Sprintf(".%06d", binary.LittleEndian.Uint32(v[8:]))
	}
	return text
}

// pick makes the execution of a statement whose parameters are some of the client's, in another order.
func (b *boundExecution) pick(args []int) (*stmt, *execution) {
	b.st.noteKinds(b.ex)
	st := &stmt{setting: b.st.setting, params: len(args), kinds: make([]byte, len(args))}
	ex := &execution{flags: b.ex.flags &^ cursorTypes, bitmap: make([]byte, (len(args)+7)/8)}
	for k, arg := range args {
		st.kinds[k] = b.st.kinds[arg]
		ex.types = append(ex.types, b.ex.types[2*arg], b.ex.types[2*arg+1])
		if data, long := b.st.long[uint16(arg)]; long {
			if st.long == nil {
				st.long = map[uint16][]byte{}
			}
			st.long[uint16(k)] = data
			continue
		}
		if b.values[arg] == nil {
			ex.bitmap[k/8] |= 1 << (k % 8)
			continue
		}
		ex.values = append(ex.values, b.values[arg]...)
	}
	if ex.attributes = b.ex.attributes.behind(len(args), b.st.params); ex.attributes != nil {
		for k, nulls := range ex.bitmap {
			ex.attributes.bitmap[k] |= nulls
		}
	}
	return st, ex
}

// sendBound prepares a text on a connection if it is not there yet, and sends its execution.
func (sh *shards) sendBound(l *txn.Lease, text string, args []int, b *boundExecution) error {
	st, ex := b.pick(args)
	bs, err := sh.exchanges.backendStmt(l.Pooled, text, st, ex)
	if err != nil {
		var gone *stmtGone
		if errors.As(err, &gone) {
			return gone.err
		}
		return err
	}
	sh.exchanges.sendExecution(l.Pooled, bs, st, ex)
	if len(st.long) > 0 {
		l.Conn.CloseStmt(bs) // should it fail, MySQL keeps long data for the next execution, another session's
	}
	return l.Conn.Flush()
}

// planOfStmt gives the plan of a prepared statement, which keeps it as long as it is right.
func (ro *routing) planOfStmt(st *stmt) (*plan.Plan, error) {
	plans := ro.client.schema.Plans
	if plans == nil {
		return nil, errNotSharded
	}
	if st.planned(plans) {
		return st.plan, nil
	}
	forgotten := plans.forgotten.Load()
	p, err := plans.get(st.text, st.db, st.mode)
	if err != nil {
		return nil, planError(err)
	}
	if p == nil {
		return nil, errNotSharded
	}
	st.plan, st.plans, st.forgotten = p, plans, forgotten
	return p, nil
}

// planned reports whether the statement has a plan that is still right.
func (st *stmt) planned(plans *Plans) bool {
	return st.plan != nil && st.plans == plans && st.forgotten == plans.forgotten.Load()
}

var errNotSharded = newError(KSRefusedSharding, "the tables of the prepared statement are not sharded any more: prepare it again")

// tellAnew has the text of an execution tell what the statement before it has left, or what the proxy's own variables are, as it is now: when the statement was prepared, or executed
// before, that was another one.
func (ss *stmts) tellAnew(q *query) error {
	st := q.st
	if st.own || st.info.Traits&(diagnostics|sqltext.FoundRows|sqltext.SysVarOwn) == 0 {
		return nil
	}
	if st.mode != ss.client.mode() {
		return preparedOtherwise()
	}
	now := query{text: st.source, info: st.info}
	if err := ss.client.substitute(&now); err != nil {
		return err
	}
	if now.text == st.text {
		return nil
	}
	st.text, st.normal, st.plan = now.text, normalOf(now.text, st.mode), nil
	q.text = st.text
	return nil
}

// executionProcedure runs an execution that is no plain statement, or whose plan is still to be made.
func (s *Session) executionProcedure(q *query) (failed bool, err error) {
	if err := s.stmts.tellAnew(q); err != nil {
		return true, err
	}
	if !q.st.sharded {
		return s.exchanges.forward(q)
	}
	if q.st.information {
		if handled, err := s.executeCatalog(q); handled || err != nil {
			return err != nil, err
		}
	}
	p, err := s.routing.planOfStmt(q.st)
	if err != nil {
		return true, err
	}
	b, err := s.routing.bind(q.st, q.ex)
	if err != nil {
		return true, err
	}
	s.client.lookup().execution.Bind(p, b.args)
	n, err := s.placeWithIDs(q, p)
	switch {
	case errors.Is(err, errKeeps), composes(err):
		if q.st.db != s.client.state.DB() {
			return true, newError(KSRefusedSharding, "the statement was prepared in another database, and is carried out by others: prepare it again")
		}
		text, failure := executedText(&s.client, p.Mode, q.st.text, b.args)
		if failure != nil {
			return true, failure
		}
		if errors.Is(err, errKeeps) {
			return composer{s}.keepIndexes(text, true)
		}
		return composer{s}.inParts(q, text)
	case errors.Is(err, errUnheard):
		if q.ids.drawn() {
			s.routing.undraw(q)
		}
		if err := s.leases.hearOf(p); err != nil {
			return true, err
		}
		return s.executionProcedure(q)
	case errors.Is(err, errReplan):
		return s.executionProcedure(q)
	case err != nil:
		return true, planError(err)
	case n == actionShards:
		return s.manyShards(q)
	}
	return s.exchanges.forward(q)
}

// executeCatalog runs a prepared statement about the catalog; handled is false for one that is none.
func (s *Session) executeCatalog(q *query) (handled bool, err error) {
	st := q.st
	c, err := s.routing.catalogOf(st.text, st.info.Class, st.mode, st.db)
	if c == nil || err != nil {
		return err != nil, err
	}
	b, err := s.routing.bind(st, q.ex)
	if err != nil {
		return true, err
	}
	_, err = s.exchanges.several().queries.catalog(q, c, b)
	return true, err
}
