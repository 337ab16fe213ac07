package serverlog

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// beginsSlow tells the lines that an entry of a slow log can begin with. MySQL manual: "The Slow Query Log"; MariaDB Knowledge Base: "Slow Query Log
// Extended Statistics".
func beginsSlow(l []byte) bool {
	if rest, ok := bytes.CutPrefix(l, []byte("# Time: ")); ok {
		return len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'
	}
	rest, ok := bytes.CutPrefix(l, []byte("# User@Host: "))
	return ok && bytes.Contains(rest, []byte(" @ "))
}

// nextSlow reads an entry of a slow log: comment lines, USE where the database is another than that of the entry before, SET timestamp, and the
// statement.
func (r *Reader) nextSlow() (Entry, error) {
	e := Entry{}
	seen, said := false, false // the header; the database, in it
	for {
		l, err := r.next()
		if err != nil {
			return e, err
		}
		if !bytes.HasPrefix(l.text, []byte("#")) {
			if !seen {
				r.started(l)
				continue // a remnant
			}
			r.held = l
			break
		}
		if command, ok := bytes.CutPrefix(l.text, []byte("# administrator command: ")); ok && seen {
			e.Kind, e.Text, e.Line = Command, strings.TrimSuffix(string(command[:min(len(command), 80)]), ";"), l.line
			return e, nil
		}
		seen = seen || beginsSlow(l.text)
		r.header(&e, string(l.text[:min(len(l.text), lineBytes)]), &said)
	}
	e.At = r.at
	return e, r.body(&e, said)
}

// header takes a comment line of an entry.
func (r *Reader) header(e *Entry, l string, said *bool) {
	switch {
	case strings.HasPrefix(l, "# Time: "):
		r.time(strings.TrimPrefix(l, "# Time: "))
	case strings.HasPrefix(l, "# Query_time: "):
		seconds, _, _ := strings.Cut(strings.TrimPrefix(l, "# Query_time: "), " ")
		if s, err := strconv.ParseFloat(seconds, 64); err == nil && s >= 0 && s < 1e8 {
			e.Time = time.Duration(s * float64(time.Second))
		}
	case strings.HasPrefix(l, "# Stored routine: "), strings.HasPrefix(l, "# Stored_routine: "):
		e.Kind = Routine
	}
	if _, rest, ok := strings.Cut(l, "Schema: "); ok && (strings.HasPrefix(l, "# Thread_id: ") || strings.HasPrefix(l, "# Schema: ")) {
		e.DB, _, _ = strings.Cut(rest, "  ")
		*said = true
	}
}

// body takes the lines up to the next entry.
func (r *Reader) body(e *Entry, said bool) error {
	s := statement{max: r.textMax}
	used, timed := false, false // the log's own lines ahead of the statement
	for {
		l, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if beginsSlow(l.text) {
			r.held = l
			break
		}
		if ended := len(s.text) == 0 || s.text[len(s.text)-1] == ';'; ended && r.started(l) {
			continue
		}
		if len(s.text) > 0 || s.tooLong {
			s.add(l.text, l.cut)
			continue
		}
		if command, ok := bytes.CutPrefix(l.text, []byte("# administrator command: ")); ok {
			e.Kind, e.Text, e.Line = Command, strings.TrimSuffix(string(command[:min(len(command), 80)]), ";"), l.line
			return nil
		}
		if db, ok := usedBy(l.text); ok && !used && !timed {
			r.db, used = db, true
			continue
		}
		if !timed && setsTime(l.text) {
			timed = true
			continue
		}
		if e.Line = l.line; !said {
			e.DB = r.db
		}
		s.add(l.text, l.cut)
	}
	e.Text, e.TooLong = strings.TrimSuffix(strings.TrimRight(string(s.text), " \t\r\n"), ";"), s.tooLong
	if e.Text == "" && e.Kind == Statement {
		e.Kind = Command
	}
	return nil
}

// usedBy is the database of a line that the log has ahead of SET timestamp where the database is another than before.
func usedBy(l []byte) (db string, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("use "))
	if !ok || !bytes.HasSuffix(rest, []byte(";")) {
		return "", false
	}
	return strings.Trim(string(rest[:len(rest)-1]), "`"), true
}

// setsTime tells the line that the log has ahead of a statement: SET timestamp=1700000000; with last_insert_id and insert_id where it has used them.
func setsTime(l []byte) bool {
	rest, ok := bytes.CutPrefix(l, []byte("SET "))
	if !ok || !bytes.HasSuffix(rest, []byte(";")) {
		return false
	}
	for _, one := range bytes.Split(rest[:len(rest)-1], []byte(",")) {
		name, value, _ := bytes.Cut(one, []byte("="))
		switch string(name) {
		case "timestamp", "last_insert_id", "insert_id":
		default:
			return false
		}
		if len(value) == 0 || len(bytes.Trim(value, "0123456789.")) > 0 {
			return false
		}
	}
	return true
}
