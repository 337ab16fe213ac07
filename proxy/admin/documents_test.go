package admin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/proxy/kserror"
)

var (
	// codeSpan is code within a line of Markdown; a table has \| for a bar.
	codeSpan = regexp.MustCompile("`([^`]+)`")
	// ownStatement is how a statement about the proxy begins.
	ownStatement = regexp.MustCompile(`(?i)^(ks |show ks |admin (server|node|help|ddl)\b)`)
	quoted       = regexp.MustCompile(`-e (?:'([^']*)'|"([^"]*)")`)
	optional     = regexp.MustCompile(`\[([^\[\]]*)\]`)
	curl         = regexp.MustCompile(`curl .*`)
	// words that stand for something, and what the test puts there.
	stands = strings.NewReplacer("'host:port'", "'127.0.0.1:1'", "'HOST:PORT'", "'127.0.0.1:1'", "KS NODE name", "KS NODE node1", "KS NODE n ", "KS NODE node1 ",
		"SECONDS n", "SECONDS 1", "WEIGHT n", "WEIGHT 2", "LIMIT n", "LIMIT 2", "FOR user", "FOR root", "'statement'", "'SELECT 1'", "'user'@'source'", "'app'@'10.1.2.3'",
		"SEQUENCE db.table SET n", "SEQUENCE shop.orders SET 5", "SEQUENCE table SET n", "SEQUENCE orders SET 5", "[db.]table", "orders", "KILL id", "KILL 77", "QUERY id", "QUERY 77", "RESUME id", "RESUME 77", "FORGET id", "FORGET 77", "HALF_DONE id", "HALF_DONE 77", "INCIDENT id", "INCIDENT 77", "SET name = value", "SET slow_log_time = 100", " …", " SELECT 1", "'…'", "'x'",
		" statement", " SELECT 1")
)

// documented finds all code of the documents that match the expression, with where it stands.
func documented(t *testing.T, from *regexp.Regexp) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../etc/*/*.md", "../../etc/*/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			add := func(code string) {
				code = strings.ReplaceAll(strings.TrimSpace(code), `\|`, "|")
				if from.MatchString(code) {
					found[code] = filepath.Base(file)
				}
			}
			for line := range strings.Lines(string(data)) {
				if block, is := strings.CutPrefix(line, "    "); is {
					add(block)
					for _, m := range quoted.FindAllStringSubmatch(block, -1) {
						for statement := range strings.SplitSeq(m[1]+m[2], ";") {
							add(statement)
						}
					}
				}
				for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
					add(m[1])
				}
			}
		}
	}
	return found
}

// written gives the statements that a form stands for: with what is optional, and without.
func written(form string) []string {
	m := optional.FindStringSubmatchIndex(form)
	if m == nil || strings.Contains(form, "nodes[") || strings.HasPrefix(strings.ToUpper(form), "SHOW KS TABLE ") {
		return []string{stands.Replace(strings.Join(strings.Fields(form), " "))}
	}
	all := written(form[:m[0]] + form[m[2]:m[3]] + form[m[1]:])
	return append(all, written(form[:m[0]]+form[m[1]:])...)
}

// Every statement about the proxy that a document shows is one that the proxy takes: it may fail, as the nodes and sessions of
// the documents are not there, but not as something that is not known or is written in another way.
func TestDocumentedStatements(t *testing.T) {
	forms := documented(t, ownStatement)
	if len(forms) < 50 {
		t.Fatalf("only %d statements in the documents", len(forms))
	}
	p := start(t, func(text string) string {
		text = strings.NewReplacer("name: n1,", "name: node1,", "name: n2,", "name: node2,", "[n1, n2]", "[node1, node2]", "[n1]", "[node1]",
			"default: n1", "default: node1", "default: n2", "default: node2", "scratch: n2", "scratch: node2").Replace(text)
		return text
	})
	help := ""
	for _, row := range rows(t, p.client("root"), "KS HELP") {
		help += strings.ToUpper(row[0]) + "\n"
	}
	run := 0
	for form, file := range forms {
		if strings.Contains(form, "...") || strings.Contains(form, "(…") || strings.Contains(form, "NODE …") || strings.Contains(form, " | ") {
			continue // it speaks of many at once
		}
		if form == strings.ToUpper(form) && strings.Contains("\n"+help, "\n"+form+" ") && !strings.Contains(help, form+"\n") {
			continue // the first words of a statement, as its name
		}
		for _, statement := range written(form) {
			if strings.HasPrefix(statement, "SHOW KS table") {
				continue // the grammar of all
			}
			run++
			c := p.client("root") // a statement may end sessions
			r, err := c.Query(statement)
			if strings.Contains(statement, "PAUSE") {
				for _, resume := range []string{"KS RESUME", "KS NODE node1 RESUME"} { // or those behind it wait
					p.client("root").Query(resume)
				}
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, statement, err)
				continue
			}
			if r.Err == nil {
				continue
			}
			unknown := r.Err.Code == kserror.AdminSyntax || r.Err.Code == mysql.ERParse || strings.Contains(r.Err.Message, "unsupport")
			if unknown {
				t.Errorf("%s: %s: %v", file, statement, r.Err)
			}
		}
	}
	if run < 60 {
		t.Errorf("only %d statements ran", run)
	}
}

// Every call of REST that a document shows is one that the proxy has.
func TestDocumentedCalls(t *testing.T) {
	p := start(t, nil)
	calls := documented(t, curl)
	checked := 0
	for call, file := range calls {
		fields := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(curl.FindString(call)))
		at := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "http://127.0.0.1:") })
		if at < 0 || !strings.Contains(fields[at], "/api/") {
			continue
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(fields[at], "http://"), "/")
		method, body := http.MethodGet, ""
		if m := regexp.MustCompile(`-d '([^']*)'`).FindStringSubmatch(call); m != nil {
			method, body = http.MethodPost, strings.Replace(m[1], `"seconds":2`, `"seconds":1`, 1)
		}
		if k := slices.Index(fields, "-X"); k >= 0 {
			method = fields[k+1]
		}
		checked++
		status, answer := p.call("web", method, "/"+path, body)
		if status != http.StatusOK {
			t.Errorf("%s: %s: status %d, %.200s", file, call, status, answer)
		}
	}
	if checked < 4 {
		t.Errorf("only %d calls in the documents", checked)
	}
}
