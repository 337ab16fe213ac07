package sqlparse

import "kingshard/mysql/sqltext"

// NewRow returns the name that INSERT ... VALUES (...) AS name ON DUPLICATE KEY UPDATE gives to the row that was to be inserted, and those of its columns
// if it lists them; "" where it gives none. MySQL manual: "INSERT ... ON DUPLICATE KEY UPDATE Statement".
func NewRow(text string, m sqltext.Mode) (name string, columns []string) {
	if m.MariaDB {
		return "", nil
	}
	tokens, ok := lex(text, m)
	if !ok {
		return "", nil
	}
	tokens = newScan(tokens).tokens
	from, to := newRowAlias(tokens)
	if from == to {
		return "", nil
	}
	for k := from + 3; k < to-1; k += 2 {
		columns = append(columns, tokens[k].word)
	}
	return tokens[from+1].word, columns
}

// Returning returns what stands behind MariaDB's RETURNING in a change, and the text ahead of it; "" where there is none. MariaDB Knowledge Base:
// "INSERT...RETURNING".
func Returning(text string, m sqltext.Mode) (change, list string) {
	tokens, ok := lex(text, m)
	if !ok || !m.MariaDB {
		return text, ""
	}
	tokens = newScan(tokens).tokens
	from, to := returningClause(tokens)
	if from == to || from+1 == to {
		return text, ""
	}
	return text[:tokens[from].Pos], text[tokens[from+1].Pos:tokens[to-1].End]
}
