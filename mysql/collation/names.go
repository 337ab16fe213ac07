package collation

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// ids are the collations of the servers, a line "id name" for each; TestNames makes it with -update.
//
//go:embed tables/names.txt
var ids string

var byID = sync.OnceValue(func() map[uint16]string {
	names := map[uint16]string{}
	for line := range strings.Lines(ids) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(id, 10, 16)
		if err != nil {
			panic(err) // it is a part of the program
		}
		names[uint16(n)] = name
	}
	return names
})

var byName = sync.OnceValue(func() map[string]uint16 {
	known := map[string]uint16{}
	for id, name := range byID() {
		known[name] = id
	}
	return known
})

// Listed gives the names of the collations that the servers have, with those that MariaDB knows without a character set, such as
// uca1400_ai_ci.
func Listed() (names []string) {
	short := map[string]bool{}
	for _, name := range byID() {
		names = append(names, name)
		if _, rest, _ := strings.Cut(name, "_"); Short(rest) && !short[rest] {
			short[rest] = true
			names = append(names, rest)
		}
	}
	return names
}

// Short reports whether a name is one that MariaDB knows without a character set: it means that of the text which it is said of.
// MariaDB manual: "Supported Character Sets and Collations".
func Short(name string) bool { return strings.HasPrefix(name, "uca1400_") }

// NameOf gives the name of a collation by its id, as column definitions have it; "" for one that is not known.
func NameOf(id uint16) string { return byID()[id] }

// IDOf gives the id of a collation by its name, in lower case; 0 for one that is not known.
func IDOf(name string) uint16 {
	if rest, old := strings.CutPrefix(name, "utf8_"); old {
		name = "utf8mb3_" + rest
	}
	return byName()[name]
}
