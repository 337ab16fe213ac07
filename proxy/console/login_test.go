package console_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// enter logs in and gives the cookie, as name=value, and the token for changes.
func (p *testProxy) enter(body string) (cookie, csrf string) {
	p.t.Helper()
	answer, text := p.call("POST", "/console/login", body)
	var who struct{ CSRF string }
	if err := json.Unmarshal([]byte(text), &who); err != nil || answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		p.t.Fatalf("login: %d %s", answer.StatusCode, text)
	}
	c := answer.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge <= 0 || c.Secure || c.Domain != "" {
		p.t.Errorf("cookie %s", answer.Header.Get("Set-Cookie"))
	}
	return c.Name + "=" + c.Value, who.CSRF
}

const webLogin = `{"user":"web","password":"websesame"}`

// The page and its files say of themselves what browsers may do with them.
func TestHeaders(t *testing.T) {
	p := start(t, nil)
	for _, path := range []string{"/", "/console/style.css", "/console/js/main.js", "/console/js/views/sessions.js", "/console/icon.svg", "/console/session"} {
		answer, text := p.call("GET", path, "")
		h := answer.Header
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'self';") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, h)
		}
		if want := map[string]int{"/console/session": 401}[path]; answer.StatusCode != max(want, 200) || h.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", path, answer.StatusCode, text)
		}
	}
	for path, kind := range map[string]string{"/": "text/html", "/console/style.css": "text/css", "/console/js/main.js": "text/javascript", "/console/icon.svg": "image/svg+xml"} {
		if answer, _ := p.call("GET", path, ""); !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %s", path, answer.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/console/", "/console/js/", "/console/nothing", "/nothing", "/console/../console.go", "/console/%2e%2e/console.go"} {
		if answer, _ := p.call("GET", path, ""); answer.StatusCode == http.StatusOK {
			t.Errorf("%s is served", path)
		}
	}
	// What was there before the console still asks for its login.
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if answer, _ := p.call("GET", path, ""); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
}

func TestLogin(t *testing.T) {
	p := start(t, nil)
	for _, c := range []struct {
		body    string
		headers []string
		status  int
	}{
		{`{"user":"web","password":"wrong"}`, nil, 401},
		{`{"user":"Web","password":"websesame"}`, nil, 401},
		{`{"user":"web"}`, nil, 401},
		{`{"token":"nonenonenonenone"}`, nil, 401},
		{`{"user":"root","password":"root"}`, nil, 401}, // a client account is no web user
		{`{}`, nil, 401},
		{`{"user":1}`, nil, 400},
		{`{"user":"` + strings.Repeat("x", 20000) + `"}`, nil, 400},
		{webLogin, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{webLogin, []string{"Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if answer, text := p.call("POST", "/console/login", c.body, c.headers...); answer.StatusCode != c.status || len(answer.Cookies()) > 0 {
			t.Errorf("%.60s: %d %s, want %d", c.body, answer.StatusCode, text, c.status)
		}
	}
	cookie, csrf := p.enter(webLogin)
	if answer, text := p.call("GET", "/console/session", "", "Cookie", cookie); answer.StatusCode != 200 || text != `{"csrf":"`+csrf+`","name":"web","rights":"admin"}`+"\n" {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	if !strings.Contains(p.log.String(), `msg="login of the console" audit=true user=web from=127.0.0.1`) {
		t.Errorf("the log does not say who came:\n%s", p.log)
	}
	// A second login takes the place of the browser's first.
	again, _ := p.call("POST", "/console/login", webLogin, "Cookie", cookie)
	if answer, _ := p.call("GET", "/console/session", "", "Cookie", cookie); answer.StatusCode != 401 || again.StatusCode != 200 {
		t.Error("the old session goes on")
	}
}

// Passwords cannot be tried fast.
func TestAttempts(t *testing.T) {
	p := start(t, nil)
	p.write(p.text + "max_login_delay: 1s\n")
	if err := p.ReloadFile(); err != nil {
		t.Fatal(err)
	}
	// One after the other they are answered, with the right password at once.
	for k := range 5 {
		if answer, _ := p.call("POST", "/console/login", `{"user":"web","password":"guess"}`); answer.StatusCode != 401 {
			t.Fatalf("attempt %d: %d", k, answer.StatusCode)
		}
	}
	if answer, _ := p.call("POST", "/console/login", webLogin); answer.StatusCode != http.StatusOK {
		t.Errorf("with the right password: %d", answer.StatusCode)
	}
	// Many at a time are looked at in turn, and most of too many refused; REST counts with the console.
	var crowd sync.WaitGroup
	var refused atomic.Int32
	for k := range 160 {
		crowd.Go(func() {
			for range 2 {
				var answer *http.Response
				if k%2 == 0 {
					answer, _ = p.call("POST", "/console/login", `{"token":"guessguessguessguess"}`)
				} else {
					answer, _ = p.call("GET", "/api/v2/nodes", "", "Authorization", "Bearer guessguessguessguess")
				}
				if answer.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				} else if answer.StatusCode != http.StatusUnauthorized {
					t.Errorf("status %d", answer.StatusCode)
				}
			}
		})
	}
	crowd.Wait()
	if refused.Load() == 0 {
		t.Error("320 passwords were looked at")
	}
}

// Who has a token cannot wash off with it, under whatever name, what other passwords and tokens were tried.
func TestAttemptsWithAToken(t *testing.T) {
	const own = "readreadreadreadread"
	for _, c := range []struct{ what, guess, good string }{
		{"a password", `{"user":"web","password":"guess"}`, `{"user":"web","token":"` + own + `"}`},
		{"a token", `{"token":"guessguessguessguess"}`, `{"token":"` + own + `"}`},
	} {
		p := start(t, func(text string) string { return text + "max_login_delay: 1ms\n" })
		for range 4 {
			if answer, _ := p.call("POST", "/console/login", c.guess); answer.StatusCode != 401 {
				t.Errorf("%s: %d", c.what, answer.StatusCode)
			}
			p.enter(c.good)
		}
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("web:websesame"))
		if _, text := p.call("GET", "/metrics", "", "Authorization", basic); !strings.Contains(text, "\nkingshard_login_delays_total 2\n") {
			t.Errorf("four guesses of %s were not held up", c.what)
		}
	}
}

// Requests with a cookie act with the rights of who logged in, and change nothing without the token.
func TestGuard(t *testing.T) {
	p := start(t, nil)
	cookie, csrf := p.enter(webLogin)
	other, _ := p.enter(webLogin)
	reader, readerCSRF := p.enter(`{"token":"readreadreadreadread"}`)
	for _, c := range []struct {
		what, method, path, body string
		headers                  []string
		status                   int
	}{
		{"to look", "GET", "/api/v2/nodes", "", []string{"Cookie", cookie}, 200},
		{"a change", "POST", "/api/v2/digests/reset", "", []string{"Cookie", cookie, "X-KS-CSRF", csrf}, 200},
		{"no token", "POST", "/api/v2/digests/reset", "", []string{"Cookie", cookie}, 403},
		{"no token, the predecessor's", "PUT", "/api/v1/proxy/status", `{"opt":"offline"}`, []string{"Cookie", cookie}, 403},
		{"a wrong token", "POST", "/api/v2/digests/reset", "", []string{"Cookie", cookie, "X-KS-CSRF", "x"}, 403},
		{"another session's token", "POST", "/api/v2/digests/reset", "", []string{"Cookie", other, "X-KS-CSRF", csrf}, 403},
		{"from another site", "POST", "/api/v2/digests/reset", "", []string{"Cookie", cookie, "X-KS-CSRF", csrf, "Sec-Fetch-Site", "cross-site"}, 403},
		{"logout without token", "POST", "/console/logout", "", []string{"Cookie", cookie}, 403},
		{"a reader looks", "GET", "/api/v2/sessions", "", []string{"Cookie", reader}, 200},
		{"a reader kills", "POST", "/api/v2/sessions/1/kill", "", []string{"Cookie", reader, "X-KS-CSRF", readerCSRF}, 403},
		{"a reader profiles", "POST", "/api/v2/profile", `{"seconds":1}`, []string{"Cookie", reader, "X-KS-CSRF", readerCSRF}, 403},
		{"nobody", "GET", "/api/v2/nodes", "", nil, 401},
		{"a made-up cookie", "GET", "/api/v2/nodes", "", []string{"Cookie", "kingshard=AAAA"}, 401},
		{"credentials of its own", "POST", "/api/v2/digests/reset", "", []string{"Cookie", reader, "Authorization", "Bearer operoperoperoperoper"}, 200},
		{"wrong credentials of its own", "POST", "/api/v2/digests/reset", "", []string{"Cookie", cookie, "X-KS-CSRF", csrf, "Authorization", "Bearer x"}, 401},
	} {
		if answer, text := p.call(c.method, c.path, c.body, c.headers...); answer.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.what, answer.StatusCode, text, c.status)
		}
	}
	// The page's own requests never make the browser ask for a password.
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "X-KS-CSRF", "none yet"); answer.StatusCode != 401 || answer.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	if answer, _ := p.call("POST", "/console/logout", "", "Cookie", cookie, "X-KS-CSRF", csrf); answer.StatusCode != 200 || answer.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d", answer.StatusCode)
	}
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "Cookie", cookie); answer.StatusCode != 401 {
		t.Errorf("after logout: %d", answer.StatusCode)
	}
}

// A reload that changes a password or takes a token's rights away is felt by who is logged in.
func TestReloadEndsLogins(t *testing.T) {
	p := start(t, nil)
	web, csrf := p.enter(webLogin)
	operator, operatorCSRF := p.enter(`{"token":"operoperoperoperoper"}`)
	p.write(strings.NewReplacer("websesame", "newsesame", "operoperoperoperoper, rights: operate", "operoperoperoperoper, rights: read").Replace(p.text))
	if answer, text := p.call("POST", "/api/v2/reload", "", "Cookie", web, "X-KS-CSRF", csrf); answer.StatusCode != 200 {
		t.Fatalf("reload: %d %s", answer.StatusCode, text)
	}
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "Cookie", web); answer.StatusCode != 401 {
		t.Errorf("an old password: %d", answer.StatusCode)
	}
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "Cookie", operator); answer.StatusCode != 200 {
		t.Errorf("the token: %d", answer.StatusCode)
	}
	if answer, _ := p.call("POST", "/api/v2/reload", "", "Cookie", operator, "X-KS-CSRF", operatorCSRF); answer.StatusCode != 403 {
		t.Errorf("with rights it had: %d", answer.StatusCode)
	}
}

// Without a login configured the console is closed.
func TestClosed(t *testing.T) {
	p := start(t, func(text string) string {
		i, j := strings.Index(text, "web_user:"), strings.Index(text, "connect_timeout")
		return text[:i] + text[j:]
	})
	for _, body := range []string{webLogin, `{"user":"","password":""}`, `{}`} {
		if answer, text := p.call("POST", "/console/login", body); answer.StatusCode != 403 || !strings.Contains(text, "web_tokens") {
			t.Errorf("%s: %d %s", body, answer.StatusCode, text)
		}
	}
}

// Who says that a login comes, and sends nothing, is not waited for.
func TestSlowLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	p := start(t, nil)
	c, err := net.Dial("tcp", strings.TrimPrefix(p.web, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("POST /console/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("%v: %q", err, answer)
	}
}
