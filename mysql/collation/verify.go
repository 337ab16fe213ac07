package collation

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// sampleLength is how many characters one of a fold's samples has.
const sampleLength = 4096

// Samples are texts that have all characters which the fold knows, each with an a behind it; none for a binary fold. A server
// whose WEIGHT_STRING of each is that of Weights, under the fold's collation, compares them as the fold does.
func (f *Fold) Samples() (texts []string) {
	if f.load == nil {
		return nil
	}
	w := f.load()
	var text strings.Builder
	count := 0
	end := func() {
		if count > 0 {
			texts = append(texts, text.String())
		}
		text.Reset()
		count = 0
	}
	for x := rune(0); x <= utf8.MaxRune; x++ {
		if w.entry(x) == unknown {
			continue
		}
		text.WriteRune(x)
		text.WriteByte('a')
		if count++; count == sampleLength {
			end()
		}
	}
	end()
	return texts
}

// Weights is the weight string that a server gives for a text which the fold knows.
func (f *Fold) Weights(text string) string {
	var all []byte
	var room [weightsMax]uint16
	for _, x := range text {
		of, _ := f.load().of(room[:0], x)
		for _, one := range of {
			all = appendWeight(all, f.name, one)
		}
	}
	return string(all)
}

// appendWeight writes a weight as the servers do for a collation, or a fold of its name: in one byte where the character set
// has no more.
func appendWeight(to []byte, collation string, w uint16) []byte {
	if unit(collation) == 1 {
		return append(to, byte(w))
	}
	return binary.BigEndian.AppendUint16(to, w)
}

// unit is the number of bytes of a weight.
func unit(collation string) int {
	if strings.HasPrefix(collation, "latin1_") {
		return 1
	}
	return 2
}

// Converted writes a text as an expression in the character set of a collation and with it, for any server.
func Converted(text, collation string) string {
	charset, _, _ := strings.Cut(collation, "_")
	return fmt.Sprintf("CONVERT(CONVERT(X'%x' USING utf8mb4) USING %s) COLLATE %s", text, charset, collation)
}
