package kingshard

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// link is a relative link of Markdown, with a fragment or without.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// namedTest is a test that a document names.
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`")
	heading   = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	fenced    = regexp.MustCompile("(?ms)^```.*?^```")
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	// made is a target of make in the code of a document.
	made     = regexp.MustCompile("(?m)(?:^    (?:[a-z0-9]*[$#] )?|`)make ([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*)")
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// documents are all Markdown files, by path, with their text.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "etc/*/*.md", "etc/helm/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(file)] = string(data)
		}
	}
	if len(all) < 10 {
		t.Fatalf("only %d documents", len(all))
	}
	return all
}

// anchors gives the fragments that a document's headings have, as GitHub makes them.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := notAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		found[strings.ReplaceAll(words, " ", "-")] = true
	}
	return found
}

// Links of documents lead to files, and to headings, that exist.
func TestLinks(t *testing.T) {
	all := documents(t)
	links := 0
	for file, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			links++
			path, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") {
				t.Errorf("%s: the link %s leaves the repository", file, m[1])
				continue
			}
			target := file
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(file), path))
			}
			if _, err := os.Stat(target); err != nil || strings.HasPrefix(target, "..") {
				t.Errorf("%s: the link %s leads nowhere", file, m[1])
				continue
			}
			if fragment != "" && !anchors(all[target])[fragment] {
				t.Errorf("%s: the link %s: %s has no such heading", file, m[1], target)
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links", links)
	}
}

// Every line of the list of threats has a test.
func TestThreats(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([^|]*) \|$`).FindAllStringSubmatch(documents(t)["docs/security.md"], -1)
	if len(rows) < 36 {
		t.Errorf("%d threats, the list has 36 and more", len(rows))
	}
	for k, row := range rows {
		if row[1] != strconv.Itoa(k+1) || !namedTest.MatchString(row[2]) {
			t.Errorf("line %d is threat %s, tested by %q", k+1, row[1], row[2])
		}
	}
}

// Tests that documents name exist.
func TestNamedTests(t *testing.T) {
	exist := make(map[string]bool)
	walk(t, func(_, file string) {
		if !strings.HasSuffix(file, "_test.go") {
			return
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(data), -1) {
			exist[m[1]] = true
		}
	})
	named := 0
	for file, text := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if named++; !exist[m[1]] {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named", named)
	}
}

// What a document makes is a target of the Makefile.
func TestMadeTargets(t *testing.T) {
	data, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	makefile := "\n" + string(data)
	targets := 0
	for file, text := range documents(t) {
		for _, m := range made.FindAllStringSubmatch(text, -1) {
			for _, target := range strings.Fields(m[1]) {
				if targets++; !strings.Contains(makefile, "\n"+target+":") {
					t.Errorf("%s: make %s: there is no such target", file, target)
				}
			}
		}
	}
	if targets < 10 {
		t.Errorf("only %d targets in the documents", targets)
	}
}
