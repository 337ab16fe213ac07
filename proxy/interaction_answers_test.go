package proxy_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// reply is what some nodes' servers answer to statements that match a pattern, line by line; a directive "server" of a script makes one.
//
//	ok affected=1 id=7 warnings=2 status=QUERY_NO_INDEX_USED info="a text" track:schema=shop more
//	error 1146 42S02 Table 'shop.t' doesn't exist
//	columns id:LONGLONG shop.t.name     a result set; a column without a type is a VAR_STRING
//	row 7 "a b" NULL
//	end warnings=1 more                 the end of the rows, with what ok takes
//	cursor                              in place of rows: they are to be fetched
//	infile /tmp/a.csv                   asks the client for the file, and shows what came
//	text "any packet"
//	together both                       waits until all servers whose replies have a line with this name have come as far
//	together both once                  so the first time, and not later
//	wait                                until the script releases the node, or a KILL ends the statement
//	flush                               what is queued leaves now
//	cut                                 closes the connection
//
// more says that another result follows.
type reply struct {
	nodes   []string
	pattern string
	lines   []string
}

// matches tells whether a statement is like a pattern, in which * is any text.
func matches(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, behind, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text, rest = after, behind
	}
}

// columnsOf reads what "columns" of a reply says.
func columnsOf(text string) (list []mysql.ColumnDefinition41) {
	for _, word := range strings.Fields(text) {
		name, kind, typed := strings.Cut(word, ":")
		d := mysqltest.Strings("")[0]
		if typed {
			t, ok := columnTypes[kind]
			if !ok {
				panic("no type is called " + kind)
			}
			if d.Type = t; t != mysql.TypeVarString {
				d.Charset, d.Length = 63, 20
			}
		}
		parts := strings.Split(name, ".")
		d.Name = parts[len(parts)-1]
		d.OrgName, d.Schema, d.Table = d.Name, "", ""
		if len(parts) == 3 {
			d.Schema, d.Table = parts[0], parts[1]
		}
		d.OrgTable = d.Table
		list = append(list, d)
	}
	return list
}

// valuesOf reads the words of a row.
func valuesOf(text string) (list []any) {
	all, quoted, err := words(text)
	if err != nil {
		panic(err)
	}
	for k, word := range all {
		if word == "NULL" && !quoted[k] {
			list = append(list, nil)
			continue
		}
		list = append(list, word)
	}
	return list
}

// packetOf reads what "ok" and "end" of a reply say.
func packetOf(text string) (p mysql.OKPacket) {
	all, _, err := words(text)
	if err != nil {
		panic(err)
	}
	for _, word := range all {
		key, value, _ := strings.Cut(word, "=")
		number, _ := strconv.ParseUint(value, 10, 64)
		switch {
		case key == "more":
			p.Status |= mysql.ServerMoreResultsExists
		case key == "affected":
			p.AffectedRows = number
		case key == "id":
			p.LastInsertID = number
		case key == "warnings":
			p.Warnings = uint16(number)
		case key == "info":
			p.Info = []byte(value)
		case key == "status":
			p.Status |= statusOf(value)
		case strings.HasPrefix(key, "track:"):
			p.Status |= mysql.ServerSessionStateChanged
			p.StateChanges = appendTrack(p.StateChanges, strings.TrimPrefix(key, "track:"), value)
		default:
			panic("what is " + word)
		}
	}
	return p
}

// statusOf gives the flags of names as shortFlags has them, joined by "|".
func statusOf(names string) (s mysql.Status) {
	for _, name := range strings.Split(names, "|") {
		known := false
		for bit := range 16 {
			if flag := mysql.Status(1) << bit; flag.String() != "" && shortFlags(flag) == name {
				s, known = s|flag, true
			}
		}
		if !known {
			panic("no status flag is called " + name)
		}
	}
	return s
}

// appendTrack appends a change of the session's state. MySQL manual: "Protocol::OK_Packet", session state information.
func appendTrack(b []byte, kind, value string) []byte {
	for number, name := range trackNames {
		if name != kind {
			continue
		}
		var data []byte
		if number == trackGTIDs {
			data = []byte{0}
		}
		if name, value, is := strings.Cut(value, "="); is && kind == "variable" {
			data = mysql.AppendLenencString(mysql.AppendLenencString(data, name), value)
		} else {
			data = mysql.AppendLenencString(data, name)
		}
		return mysql.AppendLenencString(append(b, number), string(data))
	}
	panic("no change of state is called " + kind)
}

// play gives a reply to a statement; killed tells that somebody ended it before.
func (n *scriptNode) play(c *nodeConn, cmd mysql.Command, lines []string) {
	var columns []mysql.ColumnDefinition41
	begun := true // what is ahead of the rows has been queued
	begin := func() {
		if !begun {
			c.Columns(columns...)
			begun = true
		}
	}
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case "ok":
			p := packetOf(rest)
			c.warn(p.Warnings)
			c.follow()
			c.OKPacket(p)
		case "error":
			parts := strings.SplitN(rest, " ", 3)
			code, err := strconv.ParseUint(parts[0], 10, 16)
			if err != nil || len(parts) != 3 {
				panic("what is error " + rest)
			}
			begin()
			c.diagnostics = [][]any{{"Error", code, parts[2]}}
			c.Conn.WriteError(&mysql.SQLError{Code: uint16(code), State: parts[1], Message: parts[2]})
		case "columns":
			columns, begun = columnsOf(rest), false
			if c.stmt != nil {
				c.stmt.columns = columns
			}
			if cmd == mysql.ComFieldList {
				for k := range columns {
					c.Conn.EndPacket(append(columns[k].AppendTo(c.Conn.StartPacket()), 0xfb)) // whose default is NULL
				}
				begun = true
			}
		case "cursor":
			c.Cursor(columns...)
			begun = true
		case "row":
			begin()
			if cmd == mysql.ComQuery {
				c.Row(valuesOf(rest)...)
			} else {
				c.binaryRow(valuesOf(rest))
			}
		case "end":
			begin()
			p := packetOf(rest)
			c.warn(p.Warnings)
			p.Status |= c.Status
			c.Conn.WriteEnd(&p)
		case "infile":
			content, err := c.LocalInfile(rest)
			if err != nil {
				return
			}
			n.rig.note(fmt.Sprintf("%s <- the file %q", n.connName(c.ID), content))
		case "text":
			c.Conn.WritePacket([]byte(valuesOf(rest)[0].(string)))
		case "flush":
			begin()
			_ = c.Conn.Flush()
		case "cut":
			c.Cut()
			return
		case "together":
			if !n.rig.meet(rest, c.received) {
				c.Error(mysql.ERUnknown, "nobody else came to %s", rest)
				return
			}
		case "wait":
			_ = c.Conn.Flush()
			if !n.wait(c) {
				c.Error(mysql.ERQueryInterrupted, "Query execution was interrupted")
				return
			}
		default:
			panic("a server cannot " + line)
		}
	}
}

// warn notes so many warnings.
func (c *nodeConn) warn(n uint16) {
	for range n {
		c.diagnostics = append(c.diagnostics, []any{"Warning", 1265, "Data truncated"})
	}
}

// binaryRow queues a row as COM_STMT_EXECUTE is answered. MySQL manual: "Binary Protocol Resultset Row".
func (c *nodeConn) binaryRow(values []any) {
	b := append(c.Conn.StartPacket(), 0)
	bitmap := len(b)
	b = append(b, make([]byte, (len(values)+9)/8)...)
	for k, v := range values {
		if v == nil {
			b[bitmap+(k+2)/8] |= 1 << ((k + 2) % 8)
			continue
		}
		text := v.(string)
		number, _ := strconv.ParseInt(text, 10, 64)
		switch c.stmt.columns[k].Type {
		case mysql.TypeLong:
			b = binary.LittleEndian.AppendUint32(b, uint32(number))
		case mysql.TypeLongLong:
			b = binary.LittleEndian.AppendUint64(b, uint64(number))
		case mysql.TypeDouble:
			f, _ := strconv.ParseFloat(text, 64)
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		default:
			b = mysql.AppendLenencString(b, text)
		}
	}
	c.Conn.EndPacket(b)
}

// meetMax is how long servers wait for each other.
const meetMax = 20 * time.Second

// meeting is where servers wait for each other.
type meeting struct {
	want     int
	once     bool     // they wait for each other the first time only
	received []string // by those who have come
	all      chan struct{}
}

// meet waits until all servers that are to come have; false if they do not. What they have received is then shown in the order of its text: it was
// on its way at once.
func (r *interaction) meet(name, received string) bool {
	r.mu.Lock()
	name, _, _ = strings.Cut(name, " ")
	m := r.meetings[name]
	if m.want == 0 { // that was once
		r.mu.Unlock()
		return true
	}
	if r.alone { // the test has failed: it does not wait as long each time
		r.mu.Unlock()
		return false
	}
	for k := len(r.events) - 1; k >= 0; k-- {
		if r.events[k] == received {
			r.events = slices.Delete(r.events, k, k+1)
			break
		}
	}
	m.received = append(m.received, received)
	all := m.all
	if len(m.received) == m.want {
		slices.Sort(m.received)
		r.events = append(r.events, m.received...)
		m.received, m.all = nil, make(chan struct{})
		if m.once {
			m.want = 0
		}
		close(all)
	}
	r.mu.Unlock()
	select {
	case <-all:
		return true
	case <-time.After(meetMax):
		r.mu.Lock()
		r.alone = true
		r.events = append(r.events, "nobody else came to "+name)
		r.mu.Unlock()
		return false
	}
}

// wait waits until the script releases the node; false if the statement was killed before.
func (n *scriptNode) wait(c *nodeConn) bool {
	r := n.rig
	r.mu.Lock()
	released := n.released
	c.waiting = true
	r.mu.Unlock()
	select {
	case <-released:
		return true
	case <-c.killed:
		return false
	case <-r.over:
		return false
	}
}

// waiting is how many statements wait on servers. Those that are told to go on do not from that moment.
func (r *interaction) waiting() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, node := range r.nodes {
		for _, c := range node.conns {
			if c.waiting {
				n++
			}
		}
	}
	return n
}

// release has the statements that wait on a node go on.
func (n *scriptNode) release() {
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	for _, c := range n.conns {
		c.waiting = false
	}
	close(n.released)
	n.released = make(chan struct{})
}
