package login_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/login"
)

// Who logged in stays so until the configuration names another password or token; its rights are those of now.
func TestLogins(t *testing.T) {
	cfg := config.Default()
	logins := login.New(func() *config.Config { return cfg }, new(account.Failures), slog.New(slog.DiscardHandler))
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.SetBasicAuth("web", "sesame")
	if _, _, err := logins.Authenticate(request); !errors.Is(err, login.ErrClosed) {
		t.Errorf("nobody is named: %v", err)
	}
	cfg.WebUser, cfg.WebPassword = "web", "sesame"
	cfg.WebTokens = []config.WebToken{{Name: "reader", Token: "abcdefghijklmnop", Rights: "read"}}
	web, ok, err := logins.Authenticate(request)
	if !ok || err != nil || web.Name != "web" || web.Rights != account.Admin {
		t.Errorf("web_user: %v, %v, %v", web, ok, err)
	}
	request.Header.Set("Authorization", "bearer abcdefghijklmnop")
	reader, ok, err := logins.Authenticate(request)
	if !ok || err != nil || reader.Name != "reader" || reader.Rights != account.Read {
		t.Errorf("a token: %v, %v, %v", reader, ok, err)
	}
	for rights, want := range map[account.Rights]int{account.Read: http.StatusOK, account.Operate: http.StatusForbidden} {
		w := httptest.NewRecorder()
		logins.Guard(rights, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, request)
		if w.Code != want {
			t.Errorf("what needs %s: %d", rights, w.Code)
		}
	}
	request.Header.Set("Authorization", "Bearer another")
	if who, ok, err := logins.Authenticate(request); ok || err != nil {
		t.Errorf("another token: %v, %v", who, err)
	}
	cfg.WebPassword, cfg.WebTokens[0].Rights = "other", "operate"
	if _, ok := logins.Current(web); ok {
		t.Error("the old password is still good")
	}
	if who, ok := logins.Current(reader); !ok || who.Rights != account.Operate {
		t.Errorf("the token: %v, %v", who, ok)
	}
}
