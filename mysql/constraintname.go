package mysql

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A database has each name of a foreign key once, and MySQL each of a CHECK constraint: parts of a table that are in one database cannot
// have the constraints of the table under the names that their definition gives them. A part's constraint is called by the table's name
// for it, a dollar sign and what tells the part from the others: the foreign key "fk_user" of the part "orders_0003" of "orders" is
// "fk_user$0003". What is too long then has pairs of characters at its end packed into one syllable of Hangul each, so that nothing is lost.
// MySQL manual: "FOREIGN KEY Constraints", "CHECK Constraints", "Identifier Length Limits".

const (
	// identMax is the longest name of a constraint, in characters.
	identMax = 64
	// tagMax is the longest part of a part's name that its constraints have in theirs.
	tagMax = 16
	// tagMark is ahead of the tag of a part.
	tagMark = "$"
	// firstPair and lastPair are the syllables that stand for two characters of ASCII, which are neither case nor, but for euckr and gb18030,
	// in a client's character set that is not Unicode: servers write them as escapes in messages then.
	firstPair, lastPair = '가', '가' + printable*printable - 1
	// printable is how many characters of ASCII there are from the blank on.
	printable = 0x7f - ' '
)

// PartTag returns what the names of constraints of a part of a table end with, so that those of other parts in its database are others;
// "" for a part with the table's own name.
func PartTag(table, part string) string {
	if part == table {
		return ""
	}
	tag, ok := strings.CutPrefix(part, table)
	if tag = strings.TrimPrefix(tag, "_"); !ok || tag == "" || len(tag) > tagMax || strings.ContainsFunc(tag, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	}) {
		return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(part)))
	}
	return tag
}

// PartConstraint returns the name that a part of a table has for a constraint of the table. ok is false for a name that is too long for
// that: one with others than printable characters of ASCII.
func PartConstraint(name, table, part string) (own string, ok bool) {
	tag := PartTag(table, part)
	length := utf8.RuneCountInString(name)
	if tag == "" || length > identMax {
		return name, true // the second is for the server to refuse
	}
	if made := numberedAfter(name); made != "" && made == table {
		return part + name[len(made):], true // as the server itself would call it
	}
	over := length + len(tagMark) + len(tag) - identMax
	if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c >= 0x7f }) {
		return name + tagMark + tag, over < 0
	}
	if over <= 0 {
		return name + tagMark + tag, true
	}
	var b strings.Builder
	b.WriteString(name[:length-2*over])
	for k := length - 2*over; k < length; k += 2 {
		b.WriteRune(firstPair + rune(name[k]-' ')*printable + rune(name[k+1]-' '))
	}
	return b.String() + tagMark + tag, true
}

// TableConstraint returns the name that a table has for a constraint of one of its parts: what PartConstraint made its own name of, or
// what the server would have called it in the table. ok is false for a name that the part has from elsewhere, which is its own.
func TableConstraint(own, table, part string) (name string, ok bool) {
	if part == table {
		return own, false
	}
	if made := numberedAfter(own); made != "" && made == part {
		return table + own[len(made):], true
	}
	k := strings.LastIndex(own, tagMark)
	if k <= 0 || own[k+len(tagMark):] != PartTag(table, part) {
		return own, false
	}
	name = own[:k]
	if utf8.RuneCountInString(own) != identMax {
		return name, true // a name with other characters than printable ones of ASCII is shorter
	}
	var pairs []byte
	for {
		c, size := utf8.DecodeLastRuneInString(name)
		if c < firstPair || c > lastPair {
			return name + string(pairs), true
		}
		name = name[:len(name)-size]
		pairs = append([]byte{' ' + byte((c-firstPair)/printable), ' ' + byte((c-firstPair)%printable)}, pairs...)
	}
}

// numberedAfter returns the table that a server called a constraint after, with a number; "" for a name that none has given.
func numberedAfter(name string) (table string) {
	table = madeAfter(name)
	rest := name[len(table):]
	if rest == "" || strings.TrimRight(rest, "0123456789") == rest || !strings.HasSuffix(strings.TrimRight(rest, "0123456789"), "_") {
		return ""
	}
	return table
}

// escapedPairs are syllables ahead of a tag as servers write them in messages to a client whose character set lacks them.
var escapedPairs = regexp.MustCompile(`(\\[A-D][0-9A-F]{3})+\$`)

// unescapePairs puts the syllables of packed names back into a message.
func unescapePairs(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escapedPairs.ReplaceAllStringFunc(text, func(run string) string {
		var b strings.Builder
		for _, digits := range strings.Split(strings.TrimSuffix(run, tagMark), `\`)[1:] {
			c, err := strconv.ParseUint(digits, 16, 16)
			if err != nil || c < firstPair || c > lastPair {
				return run
			}
			b.WriteRune(rune(c))
		}
		return b.String() + tagMark
	})
}
