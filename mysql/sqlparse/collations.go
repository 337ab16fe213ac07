package sqlparse

import (
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/charset"

	"kingshard/mysql/collation"
)

// knowCollations has the parser know the collations of the servers, and their character sets. Whether the server at hand has one is for
// the server to say.
var knowCollations = sync.OnceFunc(func() {
	for _, name := range collation.Listed() {
		set, rest, _ := strings.Cut(name, "_")
		if collation.Short(name) {
			set = charset.CharsetUTF8MB4
		}
		knowCollation(set, name)
		if set == charset.CharsetUTF8MB3 {
			knowCollation(set, charset.CharsetUTF8+"_"+rest)
		}
	}
})

func knowCollation(set, name string) {
	if set == charset.CharsetUTF8MB3 {
		set = charset.CharsetUTF8
	}
	if c, err := charset.GetCharsetInfo(set); err != nil {
		if c == nil {
			c = &charset.Charset{Name: set, DefaultCollation: name, Collations: map[string]*charset.Collation{}}
		}
		charset.AddCharset(c)
	}
	if _, err := charset.GetCollationByName(name); err != nil {
		charset.AddCollation(&charset.Collation{CharsetName: set, Name: name})
	}
}
