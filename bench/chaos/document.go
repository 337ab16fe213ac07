package chaos

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The files of results, in a folder beside the document.
const (
	ResultsFile = "chaos.jsonl"
	SoaksFile   = "soak.jsonl"
)

// The lines that the sections of docs/reliability.md begin with.
const (
	TableSection = "<!-- written by make chaos, from docs/reliability/chaos.jsonl -->\n"
	SoakSection  = "<!-- written by make soak, from docs/reliability/soak.jsonl -->\n"
)

// Read reads a file of lines of JSON; one that is not there has none.
func Read[T any](path string) (all []T, err error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// Write writes a file of lines of JSON anew.
func Write[T any](path string, all []T) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	for _, one := range all {
		if err := e.Encode(one); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// Merge returns results with newer ones in the place of those of the same fault and server.
func Merge(results, newer []Result) []Result {
	family := func(r *Result) string { name, _, _ := strings.Cut(r.Server, " "); return name + " " + r.Fault }
	at := map[string]int{}
	all := append([]Result(nil), results...)
	for i := range all {
		at[family(&all[i])] = i
	}
	for _, r := range newer {
		if i, there := at[family(&r)]; there {
			all[i] = r
			continue
		}
		all = append(all, r)
	}
	return all
}

// Table renders results as Markdown: what fails, and for each server the faults against the guarantees, with figures.
func Table(results []Result) string {
	if len(results) == 0 {
		return "No figures yet.\n"
	}
	var b strings.Builder
	b.WriteString("| fault | what happens |\n| --- | --- |\n")
	for _, f := range Faults() {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.What)
	}
	var servers []string
	of := map[string][]Result{}
	for _, r := range results {
		if of[r.Server] == nil {
			servers = append(servers, r.Server)
		}
		of[r.Server] = append(of[r.Server], r)
	}
	for _, server := range servers {
		fmt.Fprintf(&b, "\n### %s\n\n| fault | %s | lasted | operations | errors | unknown | longest answer | last error |\n|%s\n",
			server, strings.Join(Guarantees, " | "), strings.Repeat(" --- |", len(Guarantees)+7))
		var notes []string
		for _, r := range of[server] {
			b.WriteString("| " + r.Fault + " |")
			for _, g := range Guarantees {
				if r.Broken[g] == "" {
					b.WriteString(" yes |")
					continue
				}
				b.WriteString(" **no** |")
				notes = append(notes, fmt.Sprintf("- %s, %s: %s\n", r.Fault, g, strings.ReplaceAll(r.Broken[g], "\n", " ")))
			}
			fmt.Fprintf(&b, " %.1f s | %d | %s | %d | %.2f s | %.2f s |\n", r.Lasted, r.Operations, r.errors(), r.Unknown, r.Longest, r.Recovery)
		}
		if len(notes) > 0 {
			b.WriteString("\nWhere a guarantee was broken:\n\n" + strings.Join(notes, ""))
		}
	}
	fmt.Fprintf(&b, "\nOf revision %s, %s.\n", revisions(results), results[len(results)-1].Began.Format("2006-01-02"))
	return b.String()
}

// revisions are those of the results, each once.
func revisions(results []Result) string {
	var all []string
	seen := map[string]bool{}
	for _, r := range results {
		if !seen[r.Revision] {
			seen[r.Revision] = true
			all = append(all, "`"+r.Revision+"`")
		}
	}
	return strings.Join(all, ", ")
}
