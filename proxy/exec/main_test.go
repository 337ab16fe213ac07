package exec

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// TestMain stops the shared servers and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	payloadCap = 1 << 26
	withoutEOF = mysql.ClientProtocol41 | mysql.ClientDeprecateEOF
	withEOF    = mysql.ClientProtocol41
)

// memConn is a connection in memory.
type memConn struct {
	net.Conn        // nil: what is not below is not called
	in       []byte // what reads give
	chunks   []int  // the sizes of the next reads; all that is there without
	out      bytes.Buffer
	onRead   func(n int)
	onWrite  func(n int)
	err      error // of every write
}

func (c *memConn) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	if len(c.chunks) > 0 {
		p = p[:min(len(p), c.chunks[0])]
		c.chunks = c.chunks[1:]
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	if c.onRead != nil {
		c.onRead(n)
	}
	return n, nil
}

func (c *memConn) Write(p []byte) (int, error) {
	if c.onWrite != nil {
		c.onWrite(len(p))
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.out.Write(p)
}

func (c *memConn) Close() error                { return nil }
func (c *memConn) SetDeadline(time.Time) error { return nil }

// shard is what one shard answers.
type shard struct {
	defs     []mysql.ColumnDefinition41
	rows     [][]value.Cell
	format   value.Format
	caps     mysql.Capability // 0 is withoutEOF
	warnings uint16
	status   mysql.Status
	failed   *mysql.SQLError // behind the rows
	refused  *mysql.SQLError // in place of the columns
	cut      bool            // the connection ends behind the rows
}

// wire is the response as the shard sends it.
func (s *shard) wire() []byte {
	mem := new(memConn)
	c := &mysqltest.ScriptConn{Conn: mysql.NewConn(mem, mysql.ClientSide, payloadCap), Status: s.status, Warnings: s.warnings}
	c.Conn.Capabilities = s.capabilities()
	c.Conn.WritePacket(nil) // the command has sequence id 0
	switch {
	case s.refused != nil:
		c.Conn.WriteError(s.refused)
	default:
		c.Columns(s.defs...)
		s.writeRows(c)
	}
	if err := c.Conn.Flush(); err != nil {
		panic(err)
	}
	return mem.out.Bytes()[headerLen:]
}

func (s *shard) writeRows(c *mysqltest.ScriptConn) {
	l := value.Layout{Format: s.format, Visible: len(s.defs)}
	for i := range s.defs {
		l.Types = append(l.Types, value.TypeOf(&s.defs[i]))
	}
	for _, row := range s.rows {
		c.Conn.WritePacket(l.AppendVisible(nil, row))
	}
	switch {
	case s.failed != nil:
		c.Conn.WriteError(s.failed)
	case !s.cut:
		c.End()
	}
}

func (s *shard) capabilities() mysql.Capability {
	if s.caps == 0 {
		return withoutEOF
	}
	return s.caps
}

// source is the proxy's end of a shard's connection, the command sent.
func (s *shard) source() (*Source, *memConn) {
	mem := &memConn{in: s.wire()}
	c := mysql.NewConn(mem, mysql.BackendSide, payloadCap)
	c.Capabilities = s.capabilities()
	c.WritePacket([]byte{byte(mysql.ComQuery)})
	_ = c.Flush()
	return NewSource(c, s.format), mem
}

// client is the proxy's end of a client's connection and what the client received.
type client struct {
	conn *mysql.Conn
	mem  *memConn
}

func newClient(caps mysql.Capability) *client {
	mem := new(memConn)
	c := mysql.NewConn(mem, mysql.ClientSide, payloadCap)
	c.Capabilities = caps
	return &client{c, mem}
}

// result decodes what arrived at the client, nil if that is nothing.
func (c *client) result(t testing.TB, f value.Format) *mysqltest.RawResult {
	t.Helper()
	if c.mem.out.Len() == 0 {
		return nil
	}
	in := mysql.NewConn(&memConn{in: c.mem.out.Bytes()}, mysql.BackendSide, payloadCap)
	in.Capabilities = c.conn.Capabilities
	var packets [][]byte
	for {
		p, err := in.ReadPacket()
		if err != nil {
			break
		}
		packets = append(packets, append([]byte(nil), p...))
	}
	r, err := (&mysqltest.RawClient{Conn: in}).Decode(packets, f == value.BinaryRow)
	if err != nil {
		t.Fatalf("%v in % x", err, c.mem.out.Bytes())
	}
	return r
}

// run merges the answers of shards for a client that has no EOF packets.
func run(t testing.TB, p *plan.Merge, o Options, shards ...*shard) (*mysqltest.RawResult, Summary, error) {
	t.Helper()
	c := newClient(withoutEOF)
	var sources []*Source
	for _, s := range shards {
		source, _ := s.source()
		sources = append(sources, source)
	}
	sum, err := mergeAndFlush(c.conn, sources, p, o)
	return c.result(t, shards[0].format), sum, err
}

// columns makes definitions from names and kinds: "id int", "s chars", "w bytes", "d decimal 2", "f double", "n bigint".
func columns(specs ...string) []mysql.ColumnDefinition41 {
	defs := make([]mysql.ColumnDefinition41, len(specs))
	for i, spec := range specs {
		var kind string
		d := &defs[i]
		_, _ = fmt.Sscan(spec, &d.Name, &kind, &d.Decimals)
		d.Catalog, d.Schema, d.Table, d.OrgTable, d.OrgName = "def", "shop_0001", "t_0001", "t_0001", d.Name
		d.Charset = 63
		switch kind {
		case "int":
			d.Type = mysql.TypeLong
		case "bigint":
			d.Type = mysql.TypeLongLong
		case "decimal":
			d.Type = mysql.TypeNewDecimal
		case "double":
			d.Type, d.Decimals = mysql.TypeDouble, 31
		case "bytes":
			d.Type = mysql.TypeBlob
		default:
			d.Type, d.Charset = mysql.TypeVarString, 45
		}
	}
	return defs
}

// rows makes text rows; "NULL" is NULL.
func rows(list ...[]string) [][]value.Cell {
	var out [][]value.Cell
	for _, r := range list {
		row := make([]value.Cell, len(r))
		for i, s := range r {
			if s != "NULL" {
				row[i] = value.Cell(s)
			}
		}
		out = append(out, row)
	}
	return out
}

// show writes rows one per line, cells separated by "|".
func show(r *mysqltest.RawResult) string {
	var b bytes.Buffer
	for _, row := range r.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			if v == nil {
				v = "NULL"
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mergeAndFlush is Merge with what its caller does next.
func mergeAndFlush(dst *mysql.Conn, sources []*Source, p *plan.Merge, o Options) (Summary, error) {
	sum, err := Merge(dst, sources, p, o)
	if err == nil {
		err = dst.Flush()
	}
	return sum, err
}
