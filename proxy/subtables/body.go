package subtables

import (
	"regexp"
	"strings"

	"kingshard/mysql"
)

var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// body gives what follows the name in the answer to SHOW CREATE TABLE, without what CREATE TABLE ... LIKE leaves out too: foreign
// keys and the counter of AUTO_INCREMENT. ok is false for a view and for whatever else has another form.
func body(text, table string) (definition string, ok bool) {
	lines := strings.Split(text, "\n")
	end := -1
	for k, line := range lines {
		if strings.HasPrefix(line, ")") {
			end = k
			break
		}
	}
	head, ok := strings.CutPrefix(lines[0], "CREATE TABLE "+quote(table))
	if !ok || end < 2 || head != " (" {
		return "", false
	}
	// Every definition within the parentheses is a line of its own.
	var inside []string
	for _, line := range lines[1:end] {
		if !strings.HasPrefix(line, "  CONSTRAINT ") || !strings.Contains(line, " FOREIGN KEY (") {
			inside = append(inside, strings.TrimSuffix(line, ","))
		}
	}
	if len(inside) == 0 {
		return "", false
	}
	options := lines[end]
	if at := counter.FindStringIndex(options); at != nil && !strings.Contains(options[:at[0]], "'") {
		options = options[:at[0]] + options[at[1]:]
	}
	return head + "\n" + strings.Join(inside, ",\n") + "\n" + strings.Join(append([]string{options}, lines[end+1:]...), "\n"), true
}

var keyName = regexp.MustCompile("(?m)^(  (?:KEY|CONSTRAINT) `)((?:[^`]|``)+)")

// forPart gives the definition of a part of a table, as body gave it, with the names that constraints have in another part: see
// [mysql.PartConstraint].
func forPart(definition, table, like, part string) string {
	return keyName.ReplaceAllStringFunc(definition, func(line string) string {
		head, own, _ := strings.Cut(line, "`")
		name, changed := mysql.TableConstraint(strings.ReplaceAll(own, "``", "`"), table, like)
		if !changed {
			return line
		}
		if own, changed = mysql.PartConstraint(name, table, part); !changed {
			return line
		}
		return head + quote(own)[:len(quote(own))-1]
	})
}
