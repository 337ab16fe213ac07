package session

import (
	"strings"

	"kingshard/mysql"
)

// showGrants answers SHOW GRANTS of servers that show passwords in it, without them.
func (s *Session) showGrants(q *query) (handled bool, err error) {
	if !mentions(q.text, "grants") || !grantsShowPasswords(s.mode()) {
		return false, nil
	}
	if err := s.startOfStatement(); err != nil {
		return true, err
	}
	p, err := s.acquire(s.route(q))
	if err != nil {
		return true, err
	}
	var names []string
	var types []mysql.ColumnType
	var rows [][]string
	span := s.shardSpan(p.Instance, q.text)
	err = p.Conn.Table(q.text, func(definitions []mysql.ColumnDefinition41) {
		for _, d := range definitions {
			names, types = append(names, d.Name), append(types, d.Type)
		}
	}, func(cells []string, _ []bool) {
		row := make([]string, len(cells))
		for k, c := range cells {
			row[k] = withoutPassword(c)
		}
		rows = append(rows, row)
	})
	endSpan(span, err)
	if e, ok := err.(*mysql.SQLError); ok {
		s.release(p)
		return true, e
	}
	if err != nil {
		return true, s.lost(p, err)
	}
	s.release(p)
	s.heldLast = false
	s.writeRows(names, types, rows)
	return true, nil
}

// withoutPassword cuts how the account is identified out of a line of SHOW GRANTS: GRANT ... TO `u`@`h` IDENTIFIED BY PASSWORD '*...'
// REQUIRE ... WITH ....
func withoutPassword(line string) string {
	from, to := -1, len(line)
	quote := byte(0)
	for k := range len(line) {
		switch c := line[k]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '`' || c == '"':
			quote = c
		case from < 0 && strings.HasPrefix(line[k:], " IDENTIFIED "):
			from = k
		case from >= 0 && (strings.HasPrefix(line[k:], " REQUIRE ") || strings.HasPrefix(line[k:], " WITH ")):
			to = k
			return line[:from] + line[to:]
		}
	}
	if from < 0 {
		return line
	}
	return line[:from]
}
