package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expandEnv replaces ${NAME} and ${NAME:-default} by environment variables and $$ by $; any other $ stays. As in a
// shell, the default stands in for an empty variable too. used tells whether a variable was named. Errors show no value.
func expandEnv(s string) (text string, used bool, err error) {
	var b strings.Builder
	for {
		k := strings.IndexByte(s, '$')
		if k < 0 || k+1 == len(s) {
			b.WriteString(s)
			return b.String(), used, nil
		}
		b.WriteString(s[:k])
		s = s[k:]
		switch s[1] {
		case '$':
			b.WriteByte('$')
			s = s[2:]
		case '{':
			end := strings.IndexByte(s, '}')
			if end < 0 {
				return "", true, fmt.Errorf("${ has no }: write $$ for a $ of its own")
			}
			value, err := lookupEnv(s[2:end])
			if err != nil {
				return "", true, err
			}
			b.WriteString(value)
			s, used = s[end+1:], true
		default:
			b.WriteByte('$')
			s = s[1:]
		}
	}
}

func lookupEnv(reference string) (string, error) {
	name, fallback, hasFallback := strings.Cut(reference, ":-")
	if !envName.MatchString(name) {
		return "", fmt.Errorf("${...} does not hold the name of an environment variable: write $$ for a $ of its own")
	}
	value, ok := os.LookupEnv(name)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !ok:
		return "", fmt.Errorf("the environment variable %s is not set; set it or write ${%s:-default}", name, name)
	}
	return value, nil
}
