package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// invocation is a call of the binary in the code of a document.
var invocation = regexp.MustCompile("(?m)(?:^    (?:[a-z0-9]*[$#] )?(?:[A-Z_]+=\\S+ )*|`|\\| )(?:bin/)?kingshard ((?:-|check |init |explain |route |admin |top |upgrade |hash-password|demo|completion )[^`|\\n]*)")

// Every flag and subcommand that a document gives the binary is one that it has.
func TestDocumentedInvocations(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../etc/*/*.md", "../../etc/*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	checked := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range invocation.FindAllStringSubmatch(string(data), -1) {
			args := shellWords(m[1])
			c := named(args[0])
			if c.name != "" {
				args = args[1:]
			}
			set, _ := c.set()
			checked++
			if err := set.Parse(args); err != nil && err != flag.ErrHelp {
				t.Errorf("%s: kingshard %s: %v", filepath.Base(file), m[1], err)
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d calls of the binary in the documents", checked)
	}
}

// shellWords splits a line as a shell does, up to a redirection, as far as documents need it.
func shellWords(line string) (words []string) {
	var word strings.Builder
	in, quote := false, rune(0)
	end := func() {
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in = false
	}
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ':
			end()
		case c == '>' || c == '#' || c == '&' || c == ')':
			end()
			return words
		default:
			word.WriteRune(c)
			in = true
		}
	}
	end()
	return words
}
