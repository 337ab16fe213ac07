package proxy_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// canaries are texts that must not come to light, each with what it is.
type canaries map[string]string

// stems begin all canaries but keys and verifiers: where none of them is, and no key, there is no canary.
var stems = []string{"cnrysecret", "cnryvalue", "83104957"}

// found gives what can be seen in a text that should not: a canary as it is or in hexadecimal, in any case, packed by gzip or not.
func (c canaries) found(text []byte) (what []string) {
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if plain, err := io.ReadAll(z); err == nil {
			text = plain
		}
	}
	lower := bytes.ToLower(text)
	forms := func(s string) []string { return []string{strings.ToLower(s), fmt.Sprintf("%x", s)} }
	suspicious := false
	for _, stem := range stems {
		for _, form := range append(forms(stem), fmt.Sprintf("%x", "cnry")) { // whose case is another one
			suspicious = suspicious || bytes.Contains(lower, []byte(form))
		}
	}
	for canary, is := range c {
		stemmed := slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(strings.ToLower(canary), stem) })
		if stemmed && !suspicious {
			continue
		}
		for _, form := range forms(canary) {
			if at := bytes.Index(lower, []byte(form)); at >= 0 {
				what = append(what, fmt.Sprintf("%s: ...%q...", is, lower[max(0, at-200):min(len(lower), at+80)]))
			}
		}
	}
	return what
}

// The search finds what is there.
func TestCanariesAreFound(t *testing.T) {
	c := make(canaries)
	secret, number := c.secret("a password"), c.number("a number")
	c["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] = "a key"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, "x%sx", secret)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a " + secret, strings.ToUpper(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), "1" + number + "2", "xMIIEvQIBADANBgkqhkiG9w0BAQEFAASCy", packed.String()} {
		if got := c.found([]byte(text)); len(got) != 1 {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := c.found([]byte("nothing here, cnryvalue")); got != nil {
		t.Errorf("%q", got)
	}
}

// secret makes one that stands for a password or a token.
func (c canaries) secret(what string) string {
	text := fmt.Sprintf("cnrySecret%03d%s", len(c), strings.Map(letters, what))
	c[text] = what
	return text
}

// literal makes one that stands in a statement, or is a row.
func (c canaries) literal(what string) string {
	text := fmt.Sprintf("cnryValue%03d", len(c))
	c[text] = what
	return text
}

// number makes one that stands in a statement without quotes.
func (c canaries) number(what string) string {
	text := fmt.Sprintf("83104957%03d0241", len(c))
	c[text] = what
	return text
}

// pem adds every line of a key.
func (c canaries) pem(t *testing.T, what, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); len(line) >= 40 && !strings.Contains(line, "-----") {
			c[line] = what
		}
	}
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return -1
}

// sightings is all that can be seen of a process, and what was looked at.
type sightings struct {
	t    *testing.T
	all  canaries
	seen map[string]int // bytes, by place
}

// look takes notice of what is to be seen at a place.
func (s *sightings) look(place string, text []byte) {
	s.t.Helper()
	s.seen[place] += len(text)
	for _, what := range s.all.found(text) {
		s.t.Errorf("%s shows %s", place, what)
	}
}

// file looks at a file, and files at all of a directory.
func (s *sightings) file(path string) {
	s.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Error(err)
	}
	s.look(filepath.Base(path), b)
}

func (s *sightings) files(dir string) {
	s.t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range list {
		s.file(filepath.Join(dir, one.Name()))
	}
}

// httpClient does not keep connections, which a process that hands over would wait for.
var httpClient = http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// page asks for one and looks at it and its headers; more are headers, by name and value.
func (s *sightings) page(method, url, body string, more ...string) string {
	s.t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k := 0; k < len(more); k += 2 {
		r.Header.Set(more[k], more[k+1])
	}
	resp, err := httpClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	if resp.StatusCode != http.StatusOK && !strings.HasPrefix(r.URL.Path, "/console/") {
		s.t.Errorf("%s %s: status %d: %s", method, url, resp.StatusCode, b)
	}
	s.look(r.URL.Path, fmt.Append(b, resp.Header))
	return string(b)
}

// web looks at everything on web_addr: REST by its own description, the predecessor's, profiles of all kinds, and the console.
func (s *sightings) web(root, authorization string) {
	s.t.Helper()
	login := []string{"Authorization", authorization}
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(s.page("GET", root+"/api/v2/openapi.json", "", login...)), &api); err != nil {
		s.t.Fatal(err)
	}
	read := 0
	for path, methods := range api.Paths {
		if methods["get"] != nil && !strings.Contains(path, "{") {
			read++
			s.page("GET", root+path, "", login...)
		}
	}
	if read < 15 {
		s.t.Errorf("only %d resources", read)
	}
	for _, path := range []string{"nodes/status", "proxy/status", "proxy/schema", "proxy/allow_ips", "proxy/black_sqls", "proxy/slow_sql/time"} {
		s.page("GET", root+"/api/v1/"+path, "", login...)
	}
	index := s.page("GET", root+"/debug/pprof/", "", login...)
	kinds := regexp.MustCompile(`href='([a-z]+)\?debug=`).FindAllStringSubmatch(index, -1)
	if len(kinds) < 6 {
		s.t.Errorf("only %d profiles: %s", len(kinds), index)
	}
	for _, kind := range kinds {
		if kind[1] == "profile" || kind[1] == "trace" { // below, as they take their time
			continue
		}
		for _, debug := range []string{"0", "1", "2"} {
			s.page("GET", root+"/debug/pprof/"+kind[1]+"?debug="+debug, "", login...)
		}
	}
	for _, path := range []string{"cmdline", "symbol", "profile?seconds=1", "trace?seconds=1"} {
		s.page("GET", root+"/debug/pprof/"+path, "", login...)
	}
	s.page("POST", root+"/api/v2/profile", `{"seconds":1,"by_statement":true}`, login...)
	s.page("POST", root+"/api/v2/profile", `{"last":true,"by_statement":true}`, login...)
	for _, path := range []string{"/metrics", "/livez", "/readyz", "/", "/console/page.html", "/console/style.css", "/console/session"} {
		s.page("GET", root+path, "", login...)
	}
}

// tables looks at every table of SHOW KS, as its asker sees them.
func (s *sightings) tables(c *mysqltest.RawClient) {
	s.t.Helper()
	shown := 0
	for _, row := range must(s.t, c, "KS HELP").Rows {
		if name, ok := strings.CutPrefix(row[0].(string), "SHOW KS "); ok {
			name, _, _ = strings.Cut(name, " ")
			shown++
			s.look("SHOW KS "+name, fmt.Append(nil, must(s.t, c, "SHOW KS "+name).Rows))
		}
	}
	if shown < 10 {
		s.t.Errorf("only %d tables: %v", shown, must(s.t, c, "KS HELP").Rows)
	}
	s.look("SHOW FULL PROCESSLIST", fmt.Append(nil, must(s.t, c, "SHOW FULL PROCESSLIST").Rows))
}
