package serverlog

import (
	"bytes"
	"io"
	"strings"

	"kingshard/mysql/sqltext"
)

// general is a line of a general log that begins an entry.
type general struct {
	at          []byte // none where it is the one before
	id, command string
	argument    []byte
}

// commands are those that a general log names. MySQL manual: "SHOW PROCESSLIST Statement", "Thread Command Values".
var commands = map[string]bool{
	"Sleep": true, "Quit": true, "Init DB": true, "Query": true, "Field List": true, "Create DB": true, "Drop DB": true, "Refresh": true, "Shutdown": true, "Statistics": true,
	"Processlist": true, "Connect": true, "Kill": true, "Debug": true, "Ping": true, "Time": true, "Delayed insert": true, "Change user": true, "Binlog Dump": true,
	"Table Dump": true, "Connect Out": true, "Register Slave": true, "Register Replica": true, "Prepare": true, "Execute": true, "Long Data": true, "Close stmt": true,
	"Reset stmt": true, "Set option": true, "Fetch": true, "Daemon": true, "Error": true, "Binlog Dump GTID": true, "Reset Connection": true, "Reset connection": true, "clone": true,
	"Clone": true, "Group Replication Data Stream subscription": true, "Bulk_execute": true, "Bulk execute": true, "Slave_worker": true, "Slave_IO": true, "Slave_SQL": true, "Com_multi": true,
	"Unimpl get tid": true, "Subscribe Group Replication Stream": true,
}

// generalLine reads a line that begins an entry: a time, which older servers leave out where it is the one before, the connection, the command, and
// its argument. MySQL manual: "The General Query Log".
func generalLine(l []byte) (g general, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("\t\t"))
	if !ok {
		at := bytes.IndexByte(l[:min(len(l), 40)], '\t')
		if at < 0 || !isTime(l[:at]) {
			return g, false
		}
		g.at, rest = l[:at], l[at+1:]
		rest = bytes.TrimPrefix(rest, []byte("\t"))
	}
	rest = bytes.TrimLeft(rest, " ")
	id, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(id) == 0 || len(bytes.Trim(id, "0123456789")) > 0 {
		return g, false
	}
	rest = bytes.TrimLeft(rest, " ")
	command, argument, ok := bytes.Cut(rest, []byte("\t"))
	if !ok || len(command) > 60 || !commands[string(command)] {
		return g, false
	}
	g.id, g.command, g.argument = string(id), string(command), argument
	return g, true
}

// isTime tells "231127  4:05:06" and "2023-11-27T04:05:06.789012Z".
func isTime(l []byte) bool {
	return len(l) >= 13 && l[0] >= '0' && l[0] <= '9' && bytes.IndexByte(l, ':') > 0 && len(bytes.Trim(l, "0123456789-+:.TZ ")) == 0
}

// nextGeneral reads an entry of a general log.
func (r *Reader) nextGeneral() (Entry, error) {
	for {
		l, err := r.next()
		if err != nil {
			return Entry{}, err
		}
		g, ok := generalLine(l.text)
		if !ok {
			r.started(l)
			continue
		}
		r.time(string(g.at))
		s := statement{max: r.textMax}
		s.add(g.argument, l.cut)
		line := l.line
		for {
			if l, err = r.next(); err == io.EOF {
				break
			}
			if err != nil {
				return Entry{}, err
			}
			if _, begins := generalLine(l.text); begins || startLine(l.text) {
				r.held = l
				break
			}
			s.add(l.text, l.cut)
		}
		e := Entry{Kind: Command, Text: string(s.text), TooLong: s.tooLong, At: r.at, Line: line}
		r.follow(&e, g)
		return e, nil
	}
}

// startLine tells the first line that a starting server writes.
func startLine(l []byte) bool {
	return bytes.Contains(l, []byte(", Version: ")) && bytes.HasSuffix(bytes.TrimRight(l, " \r"), []byte("started with:"))
}

// follow makes an entry what its command says, and keeps the connection's current database.
func (r *Reader) follow(e *Entry, g general) {
	e.DB = r.sessions[g.id]
	if g.id == "0" { // the server's own, as it starts
		e.Text = g.command
		return
	}
	switch g.command {
	case "Query", "Execute", "Bulk_execute", "Bulk execute":
		e.Kind = Statement
		if db, ok := usedDB(e.Text, r.server); ok && !e.TooLong {
			r.use(g.id, db)
		}
		return
	case "Prepare":
		e.Kind = Prepared
		return
	case "Connect", "Change user":
		r.use(g.id, loginDB(e.Text))
	case "Init DB":
		r.use(g.id, strings.TrimSpace(e.Text))
	case "Quit":
		delete(r.sessions, g.id)
	}
	e.Text = g.command
}

func (r *Reader) use(id, db string) {
	if len(r.sessions) >= sessionsMax {
		clear(r.sessions)
	}
	r.sessions[id] = db
}

// loginDB is the database of "root@localhost on shop using TCP/IP".
func loginDB(argument string) string {
	_, rest, ok := strings.Cut(argument, " on ")
	if !ok || strings.HasPrefix(argument, "Access denied") {
		return ""
	}
	if k := strings.LastIndex(rest, " using "); k >= 0 {
		rest = rest[:k]
	}
	return strings.TrimSpace(rest)
}

// usedDB is the database of a statement USE.
func usedDB(text string, m sqltext.Mode) (db string, ok bool) {
	if len(text) > 1024 || sqltext.Classify(text, m).Class != sqltext.Use {
		return "", false
	}
	return sqltext.ParseUse(text, m)
}
