package predecessor_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/predecessor"
	"kingshard/proxy/admin/statement"
	"kingshard/proxy/session"
)

// Every statement is taken as its usage writes it, and refused without rights; the calls of REST do the same things.
func TestAlone(t *testing.T) {
	shared, offline := new(session.Shared), new(atomic.Bool)
	shared.Snapshot.Store(&session.Snapshot{Config: config.Default()})
	trail := change.NewTrail(slog.New(slog.DiscardHandler), &shared.Queries)
	a := predecessor.New(predecessor.Options{Shared: shared, Trail: trail, Offline: offline})
	root := change.Who{Name: "root", Rights: account.Admin}
	ask := func(w change.Who, text string) (*session.OwnResult, error) {
		return a.Statement(w, statement.New(strings.TrimPrefix(text, "admin "), sqltext.Mode{}))
	}
	for _, s := range predecessor.Statements {
		if _, err := ask(change.Who{}, s.Usage()); err == nil || !strings.Contains(err.Error(), "needs the rights") {
			t.Errorf("%s without rights: %v", s.Usage(), err)
		}
	}
	if r, err := ask(root, "admin help"); err != nil || len(r.Rows) != len(predecessor.Statements)+1 {
		t.Errorf("help: %v, %v", r, err)
	}
	if r, err := ask(root, "admin check table t"); r != nil || err != nil {
		t.Errorf("a server's own: %v, %v", r, err)
	}
	if _, err := ask(root, "admin server(opt,k,v) values('change','proxy','offline')"); err != nil || !offline.Load() {
		t.Errorf("offline: %v", err)
	}
	for _, r := range predecessor.Routes {
		if r.Method+r.Path != "GET/api/v1/proxy/status" {
			continue
		}
		if got, err := r.Handle(a, root, httptest.NewRequest(r.Method, r.Path, nil)); got != "offline" || err != nil {
			t.Errorf("%s: %v, %v", r.Path, got, err)
		}
	}
}
