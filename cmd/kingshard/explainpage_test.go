package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// pageOf is the page of a log, and its report as JSON.
func pageOf(t *testing.T, dir, log string, flags ...string) (page string, rep jsonReport) {
	t.Helper()
	args := inDir(dir, append([]string{"explain", "-config", "@ks.yaml", "-u", "app", "-schema", "@dump.sql", "-log", log}, flags...))
	page, code := capture(t, append(args, "-html")...)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	out, code := capture(t, append(args, "-json")...)
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	return page, rep
}

// tags are the names of a page's elements and their attributes.
var tags = regexp.MustCompile(`<([a-zA-Z!][^\s>/]*)([^>]*)>`)

// The page has every sum and every digest of the report, what is sent for it, and no value.
func TestExplainPage(t *testing.T) {
	dir := planFiles(t, map[string]string{"slow.log": slowLog})
	page, rep := pageOf(t, dir, "@slow.log")
	has := func(pattern string, of ...any) {
		t.Helper()
		if !regexp.MustCompile(fmt.Sprintf(pattern, of...)).MatchString(page) {
			t.Errorf("the page has no %s", fmt.Sprintf(pattern, of...))
		}
	}
	text := func(s string) string { return regexp.QuoteMeta(strings.ReplaceAll(html.EscapeString(s), "+", "&#43;")) }
	rows := strings.Split(page, `<tr class="digest `)[1:]
	if len(rows) != len(rep.Digests) || len(rows) != 8 {
		t.Fatalf("%d rows of %d", len(rows), len(rep.Digests))
	}
	for k, d := range rep.Digests {
		for _, want := range []string{d.Class, d.Statement, d.Reason, d.Helps, d.Shards, strings.Join(d.Tables, ", "), fmt.Sprint(d.Statements), fmt.Sprintf("First at line %d", d.Line)} {
			if !regexp.MustCompile(text(want)).MatchString(rows[k]) {
				t.Errorf("row %d has no %q\n%s", k, want, rows[k])
			}
		}
	}
	for k, want := range map[int]string{
		2: "<b>gather</b> on node1: shop.users_0000, into u", 3: "UPDATE `users_0001` AS `users` SET age = ? WHERE name = ?", 5: "<b>forward</b> on node2: shop.users_0001",
	} {
		if !strings.Contains(rows[k], want) {
			t.Errorf("row %d has no %q\n%s", k, want, rows[k])
		}
	}
	for _, c := range rep.Classes {
		has(`<b>%s</b>.*</th><td class="number" data-label="Statements">%d</td><td class="number" data-label="Share">%s</td><td class="number" data-label="Digests">%d</td>`, text(c.Class), c.Statements, "12.5%", c.Digests)
		has(`aria-label="Statements by class: .*%s 12.5%%`, text(c.Class))
		has(`name="only" id="only\d+"><i class="key c\d+"></i>%s<`, text(c.Class))
	}
	has(`<th scope="row">all</th><td class="number" data-label="Statements">8</td>.*\s*.*>3.251</td>`)
	for _, fact := range []string{"slow log of MySQL 8.0.36", "2024-03-01 10:20:30 UTC", "from dumps", text(filepath.Join(dir, "ks.yaml")) + ", user app", "3.251 s"} {
		has("<dd>%s</dd>", fact)
	}
	has("Not shown: 1 command without a statement.")
	for _, never := range []string{"secret", "2026-01-01", "<script", "http:", "https:", "url(", "@import", "ZgotmplZ", "sesame"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if strings.Contains(page, "-schema or -servers tells them") {
		t.Error("the columns are known")
	}
	page, _ = capture(t, inDir(dir, []string{"explain", "-config", "@ks.yaml", "-u", "app", "-log", "@slow.log", "-html"})...)
	has("-schema or -servers tells them")
}

// What a log holds is text in the page, whatever it is.
func TestExplainPageOfHostileLog(t *testing.T) {
	const hostile = "</code></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'--><svg/onload=alert(3)>{{.}}"
	name := "`" + hostile + "`"
	log := "2024-03-01T10:20:30.123456Z\t    8 Connect\troot@localhost on " + hostile + " using Socket\n"
	for _, sql := range []string{
		"SELECT " + name + " FROM shop.users", "SELECT u." + name + ", e.day FROM shop.users u JOIN shop.events e ON e.user_id = u." + name, "UPDATE shop.users SET " + name + " = 1", "FROB shop.users " + hostile,
		"INSERT INTO shop.users (" + name + ") VALUES (1)", "SELECT 1 AS " + name, "SELECT name FROM shop.users " + name + " WHERE " + name + ".id = 1",
		"SELECT '" + strings.Repeat("x", 5000) + "'", "SELECT '\x00\xff\xe2\x80\xae' FROM shop.users AS `\x00\xff\xe2\x80\xae`", // a file that begins with zero bytes is no text
	} {
		log += "2024-03-01T10:20:30.123456Z\t    8 Query\t" + sql + "\n"
	}
	const file = `a"'<img src=x onerror=alert(4)>.log`
	dir := planFiles(t, map[string]string{file: log})
	page, rep := pageOf(t, dir, "@"+file)
	if len(rep.Digests) < 9 {
		t.Errorf("only %d digests", len(rep.Digests))
	}
	known := []string{"!doctype", "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "h3", "bdi", "dl", "div", "dt", "dd", "section", "p", "svg", "rect", "table", "thead", "tbody", "tfoot", "tr", "th", "td",
		"i", "b", "span", "fieldset", "legend", "label", "input", "details", "summary", "code", "ol", "li", "footer"}
	for _, m := range tags.FindAllStringSubmatch(page, -1) {
		if !slices.Contains(known, m[1]) || strings.Contains(m[2], "on") && regexp.MustCompile(`\son\w+\s*=`).MatchString(m[2]) {
			t.Errorf("the page has %s", m[0])
		}
	}
	if n := strings.Count(page, html.EscapeString("<script>alert(1)</script>")); n < len(rep.Digests)-3 {
		t.Errorf("the text is there %d times", n)
	}
	if strings.Contains(page, "\x00") || strings.ToValidUTF8(page, "") != page {
		t.Error("the page is no UTF-8 text")
	}
}

// The page of very many digests lists some, those that need attention first, and counts all.
func TestExplainPageBounds(t *testing.T) {
	var log strings.Builder
	for k := range pageDigestsMax + 5 {
		fmt.Fprintf(&log, "2024-03-01T10:20:30.123456Z\t    8 Query\tSELECT c%d FROM t\n", k)
	}
	log.WriteString("2024-03-01T10:20:30.123456Z\t    8 Query\tINSERT INTO users (name) VALUES (1)\n")
	page, _ := pageOf(t, planFiles(t, map[string]string{"general.log": log.String()}), "@general.log")
	if n := strings.Count(page, `<tr class="digest `); n != pageDigestsMax {
		t.Errorf("%d rows", n)
	}
	for _, want := range []string{"6 more digests, of 6 statements, are not listed here: -json has all.", `<tr class="digest c0">`, `data-label="Statements">2,006</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "Time s") {
		t.Error("a general log has no times")
	}
}

// The page has the console's colours.
func TestExplainPageColours(t *testing.T) {
	style, err := os.ReadFile("../../proxy/console/static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^  --.*;$`).FindAllString(pageText, -1)
	for _, line := range lines {
		if !strings.Contains(string(style), line) {
			t.Errorf("the console has no %s", line)
		}
	}
	if len(lines) < 10 {
		t.Errorf("only %d colours", len(lines))
	}
}

// frames shows the page in frames of several widths and schemes, with all digests opened, and says what is wider than its frame, what the filter leaves
// and the background.
const frames = `<!doctype html><meta charset="utf-8"><body><script>
const said = [];
const one = (width, scheme) => new Promise((done) => {
  const f = document.createElement('iframe');
  f.style = 'border: 0; width: ' + width + 'px; height: 900px; color-scheme: ' + scheme;
  f.onload = () => {
    const d = f.contentDocument, name = width + ' ' + scheme + ': ';
    const check = (what) => {
      if (d.scrollingElement.scrollWidth > width) said.push(name + what + ' is wide');
      for (const e of d.querySelectorAll('main *')) {
        const b = e.getBoundingClientRect();
        if (b.width > 1 && e.tagName !== 'rect' && (b.right > width || b.left < 0)) { said.push(name + what + ' cuts off ' + e.tagName + ' ' + e.textContent.slice(0, 40)); break; }
      }
    };
    check('closed');
    d.querySelectorAll('details').forEach((e) => { e.open = true; });
    check('open');
    said.push(name + f.contentWindow.getComputedStyle(d.body).backgroundColor);
    const shown = () => [...d.querySelectorAll('.digest')].filter((e) => e.getClientRects().length > 0).length;
    const all = shown();
    d.querySelector('#only0').click();
    said.push(name + shown() + ' of ' + all);
    done();
  };
  f.src = '/page';
  document.body.append(f);
});
(async () => {
  for (const width of [390, 1280]) for (const scheme of ['light', 'dark']) await one(width, scheme);
  document.title = 'done';
  document.body.textContent = said.join('\n');
})();
</script>`

// Nothing is wider than the window, on a desk or on a phone, light or dark; the filter works without a script, and the colours follow the system.
func TestExplainPageInBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no Chromium: make install-servers installs it")
	}
	log := slowLog
	for _, long := range []string{"SELECT " + strings.Repeat("averylongname", 60) + " FROM users", "SELECT '" + strings.Repeat("x", 50) + "', " + strings.Repeat("a, ", 300) + "b FROM users", "FROB users " + strings.Repeat("`x``", 200) + "`"} {
		log += "# Time: 2024-03-01T10:20:31.000000Z\n# User@Host: app[app] @  [10.0.0.7]  Id:     8\n# Query_time: 123456.5\nuse shop;\nSET timestamp=1;\n" + long + ";\n"
	}
	name := strings.Repeat("long", 40) + ".log"
	page, _ := pageOf(t, planFiles(t, map[string]string{name: log}), "@"+name)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/page":
			_, _ = w.Write([]byte(page))
		case "/":
			_, _ = w.Write([]byte(frames))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	// Not t.TempDir: Chromium's other processes may still write there when the first has ended.
	profile, err := os.MkdirTemp("", "kingshard-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mysqltest.WaitFor(t, "Chromium to end", func() bool { return os.RemoveAll(profile) == nil }) })
	out, err := exec.Command(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--user-data-dir="+profile, "--window-size=1400,1000", "--virtual-time-budget=30000", "--dump-dom", server.URL+"/").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(out), "<body>")
	body, _, _ = strings.Cut(body, "</body>")
	const want = `390 light: rgb(245, 246, 248)
390 light: 1 of 11
390 dark: rgb(20, 23, 28)
390 dark: 1 of 11
1280 light: rgb(245, 246, 248)
1280 light: 1 of 11
1280 dark: rgb(20, 23, 28)
1280 dark: 1 of 11`
	if got := strings.TrimSpace(html.UnescapeString(body)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
