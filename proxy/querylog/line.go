package querylog

import (
	"net/netip"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The forms of lines.
const (
	formText      = "text"
	formJSON      = "json"
	formKingshard = "kingshard" // the predecessor's
)

// lineTextMax bounds the text of a statement in a line, in bytes.
const lineTextMax = 16 << 10

// line writes a record of named values: key=value pairs, or a JSON object.
type line struct {
	b    []byte
	json bool
}

// begin starts a line with its time.
func (l *line) begin(at time.Time) {
	if l.json {
		l.b = append(l.b, '{')
	}
	l.key("time")
	l.b = at.AppendFormat(append(l.b, '"'), "2006-01-02T15:04:05.000000Z07:00")
	l.b = append(l.b, '"')
}

func (l *line) key(name string) {
	if n := len(l.b); n > 0 && l.b[n-1] != '{' {
		if l.json {
			l.b = append(l.b, ',')
		} else {
			l.b = append(l.b, ' ')
		}
	}
	if l.json {
		l.b = append(append(append(l.b, '"'), name...), '"', ':')
	} else {
		l.b = append(append(l.b, name...), '=')
	}
}

func (l *line) text(name, value string) {
	l.key(name)
	l.b = append(appendQuoted(append(l.b, '"'), value, true), '"')
}

func (l *line) number(name string, n uint64) {
	l.key(name)
	l.b = strconv.AppendUint(l.b, n, 10)
}

// millis writes a time in milliseconds, to the microsecond.
func (l *line) millis(name string, d time.Duration) {
	l.key(name)
	l.b = strconv.AppendFloat(l.b, float64(d.Microseconds())/1000, 'f', 3, 64)
}

func (l *line) end() {
	if l.json {
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, '\n')
}

// appendQuoted appends a text of which no byte can end a line or move a terminal's cursor or the direction of text; with quotes also none that ends a JSON
// string. What is not UTF-8 becomes U+FFFD.
func appendQuoted(b []byte, s string, quotes bool) []byte {
	from := 0
	for k := 0; k < len(s); {
		c := s[k]
		if c >= 0x20 && c < 0x7f && (!quotes || c != '"' && c != '\\') {
			k++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[k:])
		}
		if c >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsPrint(r) {
			k += n
			continue
		}
		b = append(b, s[from:k]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case r == utf8.RuneError:
			b = append(b, "\ufffd"...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
		k += n
		from = k
	}
	return append(b, s[from:]...)
}

// appendEscape appends a character as JSON can have any.
func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// AppendClient appends the address of a client with its port to b: localhost over a unix socket, where it is invalid.
func AppendClient(b []byte, from netip.AddrPort) []byte {
	if !from.IsValid() {
		return append(b, "localhost"...)
	}
	return from.AppendTo(b)
}

// statement writes the line of a statement whose text is sql.
func (l *line) statement(st *Statement, sql []byte) {
	l.begin(st.Start)
	l.number("conn", uint64(st.Conn))
	l.text("user", st.User)
	var client [64]byte
	l.text("client", view(AppendClient(client[:0], st.Client)))
	l.text("db", st.DB)
	l.text("backend", st.Backend)
	l.text("plan", st.Plan.String())
	l.number("shards", uint64(st.Shards))
	l.millis("total_ms", st.Total)
	l.millis("wait_ms", st.Wait)
	l.millis("exec_ms", st.Exec)
	l.number("rows", st.Rows)
	l.number("bytes", st.Bytes)
	l.number("error", uint64(st.ErrorCode))
	l.key("sql")
	l.b = append(appendQuoted(append(l.b, '"'), view(sql), true), '"')
	l.end()
}

// kingshard writes the line that the predecessor wrote; own is the proxy's address, for what it answered itself.
func (l *line) kingshard(st *Statement, sql []byte, own string) {
	l.b = st.Start.Add(st.Total).AppendFormat(l.b, "2006/01/02 15:04:05")
	if st.ErrorCode == 0 {
		l.b = append(l.b, " - OK - "...)
	} else {
		l.b = append(l.b, " - ERROR - "...)
	}
	l.b = strconv.AppendFloat(l.b, float64(st.Total.Microseconds())/1000, 'f', 1, 64)
	l.b = append(l.b, "ms - "...)
	var client [64]byte
	l.b = appendQuoted(l.b, view(AppendClient(client[:0], st.Client)), false)
	l.b = append(l.b, "->"...)
	if st.Backend == "" {
		l.b = append(l.b, own...)
	}
	l.b = append(append(l.b, st.Backend...), ':')
	l.b = appendQuoted(l.b, view(sql), false)
	l.b = append(l.b, '\n')
}
