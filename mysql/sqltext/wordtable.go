package sqltext

import (
	"slices"
	"strings"
)

// wordSlots is the size of the hash table, a power of two, several times the number of words.
const wordSlots = 4096

// words and wordIndex are the word table: wordIndex, open addressing with linear probing, holds a word's place in words,
// 0 for an empty slot. Both are built once and only read.
var (
	words     = listWords()
	wordIndex = indexWords(words)
)

// listWords makes the words out of the lists.
func listWords() []word {
	byName := make(map[string]*word)
	get := func(name string) *word {
		if byName[name] == nil {
			byName[name] = &word{name: name}
		}
		return byName[name]
	}
	for name, key := range keywords {
		name, plain := strings.CutPrefix(name, "+")
		w := get(name)
		w.key = key
		if plain {
			w.flags |= wordPlain
		}
	}
	add := func(names string, flags uint8) {
		for _, name := range strings.Fields(names) {
			get(name).flags |= flags
		}
	}
	add(plainWords, wordPlain)
	add(functionsCommon, wordCall)
	add(functionsTight, wordCall|wordTight)
	add(functionsMySQL, wordCall|wordMySQL)
	add(functionsMariaDB, wordCall|wordMariaDB)
	add("session_user system_user", wordTight)
	for name, t := range functionTraits {
		w := get(name)
		w.flags |= wordCall
		w.traits = t
	}
	for name := range roleNames {
		get(name) // known to the digest alone, a word without flags is as good as none to the classifier
	}
	list := make([]word, 0, len(byName))
	for _, w := range byName {
		if w.flags&(wordMySQL|wordMariaDB) == wordMySQL|wordMariaDB {
			w.flags &^= wordMySQL | wordMariaDB
		}
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b word) int { return strings.Compare(a.name, b.name) })
	// Place 0 is no word.
	return append([]word{{}}, list...)
}

// indexWords makes the hash table.
func indexWords(list []word) (index [wordSlots]uint16) {
	for k := 1; k < len(list); k++ {
		slot := wordHash(list[k].name)
		for index[slot] != 0 {
			slot = (slot + 1) % wordSlots
		}
		index[slot] = uint16(k)
	}
	return index
}

// wordHash gives the slot of a word of one byte or more, the same for any case of its letters.
func wordHash(s string) uint32 {
	n := len(s)
	h := uint32(s[0]|0x20) | uint32(s[n-1]|0x20)<<8 | uint32(s[n>>1]|0x20)<<16 | uint32(n)<<24
	return h * 0x9e3779b1 >> 20
}

// lookup finds the place of s in words; 0 when it is not there.
func lookup(s string) uint16 {
	if s == "" {
		return 0
	}
	slot := wordHash(s)
	for wordIndex[slot] != 0 && !foldEqual(s, words[wordIndex[slot]].name) {
		slot = (slot + 1) % wordSlots
	}
	return wordIndex[slot]
}
