package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// tablesMax bounds how many tables are kept.
const tablesMax = 200_000

// Table is one that a dump defines.
type Table struct {
	DB, Name string
	// At is the file and line of its definition.
	At string
	// Columns are as a server describes them whose clients get texts in the columns' own character sets; Invisible are those that * does not stand for.
	Columns, Invisible []mysql.ColumnDefinition41
	// Unknown says why the columns are not known; "" where they are.
	Unknown string
}

// Schema holds the tables of dumps. The zero Schema is ready.
type Schema struct {
	// DB is the database of the tables in files that name none in any way. The caller sets it ahead of Read.
	DB string
	// Warnings tell what was not understood, with file and line.
	Warnings []string
	// Server is the server of the dumps, as far as their headers tell; else it is zero.
	Server sqltext.Mode

	tables map[tableName]*Table
}

type tableName struct{ db, name string }

// Table finds a table by its names; nil if no dump has it.
func (s *Schema) Table(db, name string) *Table { return s.tables[tableName{db, name}] }

// All lists the tables by database and name.
func (s *Schema) All() []*Table {
	return slices.SortedFunc(maps.Values(s.tables), func(a, b *Table) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name)) })
}

// reading is the reading of one file.
type reading struct {
	schema  *Schema
	file    string
	db      string
	byDB    map[string]charset // of databases, where the file says so
	mode    sqltext.Mode       // the file's server
	headed  bool               // by the header
	chosen  bool               // USE, CREATE DATABASE or the caller have named the database
	defined int                // tables
}

// Read reads a dump. file is its name in messages; db is the database of its tables as long as no USE says another one, "" leaves that to the
// comment that dumps of one database begin with. An error says what is wrong with the file; definitions that are not understood make warnings, and their
// tables are there without columns.
func (s *Schema) Read(r io.Reader, file, db string) error {
	in := bufio.NewReaderSize(r, bufferBytes)
	if err := text(in); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	rd := &reading{schema: s, file: file, db: cmp.Or(db, s.DB), chosen: db != "", byDB: map[string]charset{}, mode: sqltext.Mode{ServerVersion: versionAssumed}}
	cut := newStatements(in, rd.comment)
	for {
		st, err := cut.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if st.skipped {
			continue
		}
		if err := rd.statement(st); err != nil {
			return fmt.Errorf("%s:%d: %w", file, st.line, err)
		}
	}
	if rd.defined == 0 {
		return fmt.Errorf("%s: it has no CREATE TABLE: mysqldump --no-data DATABASE writes them", file)
	}
	if !rd.headed {
		s.Warnings = append(s.Warnings, file+": no line \"-- Server version\" says which server it is of: it is read as one of MySQL")
	}
	return nil
}

// versionAssumed is the version of a server that the file does not tell.
const versionAssumed = 90000

// text refuses files that are no text.
func text(in *bufio.Reader) error {
	begin, err := in.Peek(4096)
	switch {
	case len(begin) == 0 && err == io.EOF:
		return errors.New("it is empty")
	case len(begin) == 0 && err != nil:
		return err
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}), bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(begin, []byte("BZh")), bytes.HasPrefix(begin, []byte("\xfd7zXZ")):
		return errors.New("it is compressed: unpack it first")
	case bytes.HasPrefix(begin, []byte{0xff, 0xfe}), bytes.HasPrefix(begin, []byte{0xfe, 0xff}):
		return errors.New("it is in UTF-16, as PowerShell writes: use mysqldump --result-file")
	case bytes.IndexByte(begin, 0) >= 0:
		return errors.New("it is no text")
	case bytes.HasPrefix(begin, []byte{0xef, 0xbb, 0xbf}):
		_, _ = in.Discard(3)
	}
	return nil
}

func (rd *reading) warn(line int, format string, args ...any) {
	rd.schema.Warnings = append(rd.schema.Warnings, fmt.Sprintf("%s:%d: ", rd.file, line)+fmt.Sprintf(format, args...))
}

// comment takes what the header says.
func (rd *reading) comment(text string) {
	switch {
	case strings.HasPrefix(text, "-- Server version"):
		if m := sqltext.ModeOf(strings.TrimSpace(strings.TrimPrefix(text, "-- Server version"))); m.ServerVersion > 0 {
			rd.mode, rd.headed, rd.schema.Server = m, true, m
		}
	case strings.HasPrefix(text, "-- Host:") && !rd.chosen:
		if _, db, ok := strings.Cut(text, "Database: "); ok {
			rd.db = strings.TrimSpace(db)
		}
	}
}

// statement takes one that does not hold rows.
func (rd *reading) statement(st statement) error {
	p := newTokens(st.text, rd.mode)
	if p.end() {
		return nil // a version comment for other servers
	}
	first := p.word()
	switch first {
	case "use":
		name, ok := p.name()
		if !ok {
			return errors.New("USE without a database")
		}
		rd.db, rd.chosen = name, true
	case "create":
		return rd.create(p, st)
	case "alter":
		rd.alter(p, st)
	case "drop":
		rd.drop(p)
	case "rename":
		if p.take("table") {
			if db, name, ok := rd.tableName(p); ok {
				rd.unknown(db, name, st.line, "RENAME TABLE is not followed")
			}
		}
	default:
		if info := sqltext.Classify(st.text, rd.mode); info.Class == sqltext.Other && !others[first] {
			return fmt.Errorf("this is no SQL: %q", beginning(st.text))
		}
	}
	return nil
}

// others are first words of statements in dumps that have no class of their own.
var others = map[string]bool{"delimiter": true, "lock": true, "unlock": true, "set": true, "commit": true, "start": true, "begin": true}

// beginning is the first line of a text, cut for a message.
func beginning(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 80 {
		line = line[:80] + "..."
	}
	return strings.ToValidUTF8(line, "?")
}

// create takes CREATE of anything.
func (rd *reading) create(p *tokens, st statement) error {
	p.take("or")
	p.take("replace")
	if p.take("temporary") {
		return nil
	}
	switch {
	case p.take("database"), p.take("schema"):
		p.ifExists()
		name, ok := p.name()
		if !ok {
			return errors.New("CREATE DATABASE without a name")
		}
		rd.byDB[name] = p.charset(rd.mode)
	case p.take("table"):
		p.ifExists()
		db, name, ok := rd.tableName(p)
		if !ok {
			return fmt.Errorf("CREATE TABLE without a name: %q", beginning(st.text))
		}
		return rd.define(p, db, name, st)
	case p.take("sequence"):
		p.ifExists()
		if db, name, ok := rd.tableName(p); ok {
			rd.unknown(db, name, st.line, "it is a sequence")
		}
	case p.take("unique"), p.take("index"), p.take("fulltext"), p.take("spatial"):
		if p.find("on") {
			if db, name, ok := rd.tableName(p); ok {
				rd.unknown(db, name, st.line, "CREATE INDEX is not followed")
			}
		}
	case p.find("view"):
		// Ahead of views, dumps have tables that stand for them.
		p.ifExists()
		if db, name, ok := rd.tableName(p); ok {
			delete(rd.schema.tables, tableName{db, name})
		}
	}
	return nil
}

// define takes CREATE TABLE from behind the name on.
func (rd *reading) define(p *tokens, db, name string, st statement) error {
	if db == "" {
		return fmt.Errorf("the database of the table %s is not known: give it with -db, or dump with --databases, which writes USE", name)
	}
	rd.defined++
	at := fmt.Sprintf("%s:%d", rd.file, st.line)
	if old := rd.schema.Table(db, name); old != nil && old.Unknown == "" {
		rd.warn(st.line, "%s.%s is defined at %s too: this one is taken", db, name, old.At)
	}
	t := &Table{DB: db, Name: name, At: at}
	d := &definition{mode: rd.mode, table: t, charset: rd.byDB[db]}
	if err := d.read(p); errors.Is(err, errUnended) {
		return err
	} else if err != nil {
		t.Columns, t.Invisible, t.Unknown = nil, nil, err.Error()
		rd.warn(st.line+strings.Count(st.text[:min(p.at(), len(st.text))], "\n"), "%s.%s: %v: its columns are not known", db, name, err)
	} else if d.assumed != "" {
		rd.warn(st.line, "%s.%s: no character set is said: its texts are taken for %s", db, name, d.assumed)
	}
	return rd.put(t)
}

func (rd *reading) put(t *Table) error {
	s := rd.schema
	if s.tables == nil {
		s.tables = map[tableName]*Table{}
	}
	s.tables[tableName{t.DB, t.Name}] = t
	if len(s.tables) > tablesMax {
		return fmt.Errorf("more than %d tables", tablesMax)
	}
	return nil
}

// unknown makes a table one whose columns are not known.
func (rd *reading) unknown(db, name string, line int, why string) {
	if db == "" {
		return
	}
	rd.warn(line, "%s.%s: %s: its columns are not known", db, name, why)
	_ = rd.put(&Table{DB: db, Name: name, At: fmt.Sprintf("%s:%d", rd.file, line), Unknown: why})
}

// alter takes ALTER TABLE: all but what dumps have around rows makes the columns unknown.
func (rd *reading) alter(p *tokens, st statement) {
	p.take("online")
	p.take("ignore")
	switch {
	case p.take("database"), p.take("schema"):
		if name, ok := p.name(); ok {
			// Around routines, dumps set it to what it was, and back.
			if _, said := rd.byDB[name]; !said {
				rd.byDB[name] = p.charset(rd.mode)
			}
		}
	case p.take("table"):
		p.ifExists()
		db, name, ok := rd.tableName(p)
		if ok && !p.take("disable") && !p.take("enable") {
			rd.unknown(db, name, st.line, "ALTER TABLE is not followed")
		}
	}
}

func (rd *reading) drop(p *tokens) {
	if !p.take("table") {
		return
	}
	p.ifExists()
	for {
		db, name, ok := rd.tableName(p)
		if !ok {
			return
		}
		delete(rd.schema.tables, tableName{db, name})
		if !p.takeOp(",") {
			return
		}
	}
}

// tableName takes a name, with its database or in the current one.
func (rd *reading) tableName(p *tokens) (db, name string, ok bool) {
	if name, ok = p.name(); !ok {
		return "", "", false
	}
	if p.takeOp(".") {
		db = name
		name, ok = p.name()
		return db, name, ok
	}
	return rd.db, name, true
}
