package admin

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
	"kingshard/proxy/txn/driver"
)

// still is a server that nothing changes.
type still struct{}

func (still) Reload(querylog.By, *config.Config, bool) error                       { return errors.New("no") }
func (still) Moves(*config.Config) ([]string, error)                               { return nil, nil }
func (still) Unfit(*config.Config) change.Unfits                                   { return nil }
func (still) Edit(querylog.By, bool, func(cfg *config.Config) error) error         { return errors.New("no") }
func (still) ChangeNode(querylog.By, string, bool, func(*config.Node) error) error { return nil }
func (still) Steady(f func())                                                      { f() }
func (still) Upgrade() (string, error)                                             { return "", errors.New("no") }
func (still) EditBlacklist(func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error {
	return errors.New("no")
}

func emptyAdmin(t testing.TB) *Admin {
	cfg := config.Default()
	cfg.Nodes = []config.Node{{Name: "n"}}
	accounts, err := account.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	shared := &session.Shared{Log: log, Atomic: driver.New(log, false, func() map[string]*backend.Node { return nil })}
	shared.Snapshot.Store(&session.Snapshot{Config: cfg, Accounts: accounts})
	return New(Options{Shared: shared, Server: still{}, Log: shared.Log})
}

// FuzzStatement checks that whatever is sent gets rows, OK, an error with a code of ours, or goes on to the server; and that
// nobody without rights gets rows.
func FuzzStatement(f *testing.F) {
	for _, t := range tables {
		f.Add("SHOW KS " + t.name + " LIKE '%a_\\%' WHERE " + t.columns[0].name + " <> 1 AND `" + t.columns[1].name + "` NOT LIKE 'x' ORDER BY 1 LIMIT 1,2")
		f.Add("show ks " + t.name + " where " + t.columns[1].name + " is not null order by " + t.columns[0].name + " desc, " + t.columns[1].name + " limit 3 offset 1")
	}
	for _, text := range []string{
		"KS EXPLAIN FOR 'u' SELECT 1", "KS RELOAD CHECK", "KS NODE n UP 'h:1'", "KS KILL QUERY 1", "KS RESOLVE 'ks1' COMMIT FORCE", "KS FORGET INCIDENT 1", "KS HELP", "ADMIN HELP;;", "select @@version, user() limit 1",
		"admin server(opt,k,v) values('change','slow_log_time',-1)", "admin node(opt,node,k,v) values('add','n','slave','h:1@2')", "/*!50000 ks */ help", "admin server values('add','allow_ip','::1'",
		"set names utf8", "show full processlist", "kill 1",
	} {
		f.Add(text)
	}
	a := emptyAdmin(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range []sqltext.Mode{{}, {ANSIQuotes: true, NoBackslashEscapes: true}, {Charset: sqltext.GBK}} {
			for _, c := range []*session.Caller{
				{User: "root", Rights: account.Admin}, {User: "root", Rights: account.Admin, AdminOnly: true}, {User: "app"},
			} {
				r, err := a.Statement(c, text, m)
				if r != nil && err != nil {
					t.Fatalf("%q: rows and an error", text)
				}
				if r != nil && c.Rights == account.None {
					t.Fatalf("%q: answered to a user without rights", text)
				}
				var e *mysql.SQLError
				if err != nil && !errors.As(err, &e) {
					t.Fatalf("%q: %v is no error for a client", text, err)
				}
				if r != nil {
					for _, row := range r.Rows {
						if len(row) != len(r.Columns) {
							t.Fatalf("%q: a row of %d cells under %d columns", text, len(row), len(r.Columns))
						}
					}
				}
			}
		}
	})
}

// like agrees with the meaning of patterns, told one character at a time.
func FuzzLike(f *testing.F) {
	f.Add("visits_2024", "v_s%\\_20%4")
	f.Add("", "%%")
	f.Add("a\\b", "a\\\\b")
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if len(text) > 20 || len(pattern) > 20 {
			return
		}
		if got, want := like(text, pattern), likeSlow([]rune(strings.ToLower(text)), []rune(strings.ToLower(pattern))); got != want {
			t.Errorf("%q LIKE %q is %v", text, pattern, got)
		}
	})
}

func likeSlow(t, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(t) == 0
	case p[0] == '%':
		return likeSlow(t, p[1:]) || len(t) > 0 && likeSlow(t[1:], p)
	case len(t) == 0:
		return false
	case p[0] == '_':
		return likeSlow(t[1:], p[1:])
	case p[0] == '\\' && len(p) > 1:
		return p[1] == t[0] && likeSlow(t[1:], p[2:])
	}
	return p[0] == t[0] && likeSlow(t[1:], p[1:])
}
