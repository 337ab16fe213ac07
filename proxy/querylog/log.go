package querylog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"kingshard/config"
	"kingshard/mysql/sqltext"
)

// Log takes what statements did. The zero Log takes nothing.
type Log struct {
	settings atomic.Pointer[settings]
	digests  atomic.Pointer[digests] // nil: no statistics
	// From Open on; nil without log_path. sql is standard output if the configuration asks for the log without log_path.
	sql   atomic.Pointer[Writer]
	audit *Writer
	own   string // the proxy's address

	cores atomic.Uint32 // scratches made so far
	free  sync.Pool     // of *scratch
}

// settings are those of a configuration.
type settings struct {
	statements bool          // written to sql.log
	least      time.Duration // that take so long
	literals   bool
	form       string
}

// scratch is the memory that one statement needs. The pool keeps one for each core, so its number tells the cores apart.
type scratch struct {
	core      int
	key       []byte
	line      line
	templates sqltext.Templates
}

// Open opens the logs of a configuration. The caller closes it. It must not run beside anything else.
func (l *Log) Open(cfg *config.Config) error {
	l.own = cfg.Addr
	if cfg.LogPath != "" {
		if err := os.MkdirAll(cfg.LogPath, 0o750); err != nil {
			return fmt.Errorf("log_path: %w", err)
		}
		w, err := OpenWriter(filepath.Join(cfg.LogPath, "sql.log"), RotationOf(cfg))
		if err != nil {
			return fmt.Errorf("log_path: %w", err)
		}
		l.sql.Store(w)
		if l.audit, err = OpenWriter(filepath.Join(cfg.LogPath, "audit.log"), RotationOf(cfg)); err != nil {
			_ = w.Close()
			return fmt.Errorf("log_path: %w", err)
		}
	}
	l.Apply(cfg)
	return nil
}

// RotationOf gives a configuration's rotation of log files.
func RotationOf(cfg *config.Config) Rotation {
	return Rotation{Size: int64(cfg.LogMaxSize), Age: cfg.LogMaxAge.Duration(), Keep: cfg.LogKeep}
}

// Apply brings a new configuration into force; log_path and log_format do not change. Calls must not overlap.
func (l *Log) Apply(cfg *config.Config) {
	set := &settings{
		statements: cfg.LogsStatements(), least: time.Duration(cfg.SlowLogTime) * time.Millisecond, literals: cfg.LogLiterals, form: cfg.LogSQLFormat,
	}
	if set.form == "" {
		set.form = cfg.LogFormat
	}
	if set.statements && l.sql.Load() == nil {
		w, err := OpenWriter("", Rotation{}) // standard output: it cannot fail
		if err == nil {
			l.sql.Store(w)
		}
	}
	for _, w := range []*Writer{l.sql.Load(), l.audit} {
		if w != nil {
			w.Rotate(RotationOf(cfg))
		}
	}
	switch t := l.digests.Load(); {
	case cfg.Digests == 0:
		l.digests.Store(nil)
	case t == nil:
		l.digests.Store(newDigests(cfg.Digests))
	default:
		t.resize(cfg.Digests)
	}
	l.settings.Store(set)
}

// Reopen has the files opened anew, as somebody may have renamed them.
func (l *Log) Reopen() {
	for _, w := range []*Writer{l.sql.Load(), l.audit} {
		if w != nil {
			w.Reopen()
		}
	}
}

// Close writes what is queued and closes the files. Later statements are not logged.
func (l *Log) Close() error {
	var errs []error
	for _, w := range []*Writer{l.sql.Load(), l.audit} {
		if w != nil {
			errs = append(errs, w.Close())
		}
	}
	return errors.Join(errs...)
}

// On tells whether anybody wants to know of statements.
func (l *Log) On() bool {
	set := l.settings.Load()
	return set != nil && (set.statements || l.digests.Load() != nil)
}

// Statement takes a statement that ended. It does not wait, and keeps nothing of st.
func (l *Log) Statement(st *Statement) {
	set := l.settings.Load()
	if set == nil || st.Text == "" {
		return
	}
	t := l.digests.Load()
	logged := set.statements && st.Total >= set.least
	if t == nil && !logged {
		return
	}
	s, _ := l.free.Get().(*scratch)
	if s == nil {
		s = &scratch{core: int(l.cores.Add(1))}
	}
	if t != nil {
		s.key = s.appendKey(s.key[:0], st)
		t.record(s.key, s.core, st)
	}
	if logged {
		l.write(s, st, set)
	}
	l.free.Put(s)
}

// appendKey appends what a digest goes by.
func (s *scratch) appendKey(b []byte, st *Statement) []byte {
	b = append(append(b, st.User...), 0)
	b = append(append(b, st.DB...), 0)
	return s.appendNormal(b, st, digestTextMax)
}

// appendNormal appends the normal form of a statement's text, cut to max bytes, which are more than a template has.
func (s *scratch) appendNormal(b []byte, st *Statement, max int) []byte {
	if st.Normal != "" {
		return append(b, st.Normal...)
	}
	if st.Numbers != (sqltext.Numbers{}) {
		return st.Numbers.AppendNormal(b, st.Text, st.Mode, max)
	}
	return s.templates.AppendNormal(b, st.Text, st.Mode, max)
}

// write writes a statement's line to sql.log.
func (l *Log) write(s *scratch, st *Statement, set *settings) {
	s.key = s.key[:0]
	if set.literals && !sqltext.Secretive(st.Text) {
		if s.key = append(s.key, st.Text[:min(len(st.Text), lineTextMax)]...); len(st.Text) > lineTextMax {
			s.key = append(s.key, "..."...)
		}
	} else {
		s.key = s.appendNormal(s.key, st, lineTextMax)
	}
	s.line.b, s.line.json = s.line.b[:0], set.form == formJSON
	if set.form == formKingshard {
		s.line.kingshard(st, s.key, l.own)
	} else {
		s.line.statement(st, s.key)
	}
	_, _ = l.sql.Load().Write(s.line.b)
}

// Digests lists the statistics, what took the most time first.
func (l *Log) Digests() []Digest {
	if t := l.digests.Load(); t != nil {
		return t.rows()
	}
	return nil
}

// ResetDigests forgets the statistics.
func (l *Log) ResetDigests() {
	if t := l.digests.Load(); t != nil {
		t.reset()
	}
}

// Stats are counts of the log's own.
type Stats struct {
	Digests    int    // kept now
	Evicted    uint64 // digests dropped to make room, since statistics were switched on
	SQL, Audit WriterStats
}

// Stats gives the counts.
func (l *Log) Stats() (st Stats) {
	if t := l.digests.Load(); t != nil {
		t.mu.Lock()
		st.Digests = t.kept
		t.mu.Unlock()
		st.Evicted = t.evicted.Load()
	}
	if w := l.sql.Load(); w != nil {
		st.SQL = w.Stats()
	}
	if l.audit != nil {
		st.Audit = l.audit.Stats()
	}
	return st
}

// view shows bytes as a string; valid as long as they do not change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
