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

// NameOf gives the name of a collation by its id, as column definitions have it; "" for one that is not known.
func NameOf(id uint16) string { return byID()[id] }
