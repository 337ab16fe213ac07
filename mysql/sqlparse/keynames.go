package sqlparse

// KeyKind is what a name in a definition is the name of.
type KeyKind uint8

// The kinds.
const (
	ForeignKeyName KeyKind = iota
	CheckName
	ConstraintName // of a constraint of any kind: DROP CONSTRAINT, ALTER CONSTRAINT
	IndexName
)

// KeyName is the name of a constraint or an index in a definition, and where it stands.
type KeyName struct {
	At   Span
	Name string
	Kind KeyKind
	// Adds says that the definition makes what has the name, rather than to change it.
	Adds bool
}

// keyNames finds the names of foreign keys and CHECK constraints in CREATE TABLE and ALTER TABLE, and in the latter and in CREATE and DROP INDEX
// those of indexes, which the parser keeps no places of. The words that they follow are reserved. MySQL manual: "CREATE TABLE Statement", "ALTER
// TABLE Statement", "Keywords and Reserved Words".
func keyNames(tokens []token, verb Verb, mariaDB bool) (names []KeyName) {
	if verb != CreateTable && verb != AlterTable && verb != CreateIndex && verb != DropIndex {
		return nil
	}
	k := scan{tokens: tokens}
	for k.k < len(tokens) {
		at := k.k
		before := func(n int) token {
			if at < n {
				return token{}
			}
			return tokens[at-n]
		}
		if before(1).word == "." {
			k.k++
			continue
		}
		changes := is(before(1), "drop") || is(before(1), "alter")
		switch {
		case k.skip("constraint"):
			n, ok := k.keyName()
			switch {
			case changes:
				n.Kind = ConstraintName
			case k.skip("foreign"):
				n.Kind, n.Adds = ForeignKeyName, true
				if !ok && k.skip("key") {
					n, ok = k.foreignKey(mariaDB)
				}
			case k.word() == "check":
				n.Kind, n.Adds = CheckName, true
			default:
				ok = false // UNIQUE and PRIMARY KEY: of an index
			}
			if ok {
				names = append(names, n)
			}
		case k.skip("foreign"):
			if !k.skip("key") {
				break
			}
			n, ok := k.foreignKey(mariaDB)
			if is(before(1), "drop") {
				n, ok = k.changed(at+2, ForeignKeyName)
			}
			if ok {
				names = append(names, n)
			}
		case changes && k.skip("check"):
			if n, ok := k.changed(k.k, CheckName); ok {
				names = append(names, n)
			}
		case verb != CreateTable && k.skip("index", "key"):
			adds := is(before(1), "add") || is(before(1), "create") ||
				(is(before(1), "unique") || is(before(1), "fulltext") || is(before(1), "spatial")) && (is(before(2), "add") || is(before(2), "create"))
			if !adds && !changes && !is(before(1), "rename") {
				break
			}
			if n, ok := k.changed(k.k, IndexName); ok {
				n.Adds = adds
				names = append(names, n)
			}
		default:
			k.k++
		}
	}
	return names
}

// changed reads the name of what a clause changes, from a token on.
func (s *scan) changed(from int, kind KeyKind) (n KeyName, ok bool) {
	s.k = from
	n, ok = s.keyName()
	n.Kind = kind
	return n, ok
}

// foreignKey reads what MariaDB takes for the name of a foreign key that has no other; to MySQL it is the index's, which is a table's own.
// MariaDB manual: "Foreign Keys".
func (s *scan) foreignKey(mariaDB bool) (n KeyName, ok bool) {
	n, ok = s.keyName()
	n.Kind, n.Adds = ForeignKeyName, true
	return n, ok && mariaDB
}

// keyName reads a name, and IF EXISTS or IF NOT EXISTS ahead of it.
func (s *scan) keyName() (n KeyName, ok bool) {
	if s.skip("if") {
		s.skip("not")
		s.skip("exists")
	}
	switch s.word() {
	case "foreign", "check", "unique", "primary", "using", "index", "key":
		return n, false // reserved
	}
	n.Name, n.At, ok = s.identifier()
	return n, ok
}
