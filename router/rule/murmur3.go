package rule

import (
	"math/bits"

	"kingshard/mysql/value"
)

// Murmur3 places by MurmurHash3 (32 bit, seed 0) of the key's text modulo the number of shards. Zeros before a string of
// digits do not count: 5, '5' and '005' are one key.
type Murmur3 struct{ spread }

// NewMurmur3 makes the rule for so many shards.
func NewMurmur3(shards int) (*Murmur3, error) {
	s, err := newSpread(shards)
	return &Murmur3{s}, err
}

// Kind is murmur3.
func (r *Murmur3) Kind() string { return "murmur3" }

// Find places a row.
func (r *Murmur3) Find(v value.Value) (int, error) {
	var buf [keyTextMax]byte
	digits, text, ok := keyText(buf[:0], v)
	if !ok {
		return 0, noPlace("murmur3", v)
	}
	sum := uint32(0)
	if digits != nil {
		sum = murmur3(digits)
	} else {
		sum = murmur3(text)
	}
	return int(sum % uint32(len(r.all))), nil
}

func murmur3[T string | []byte](text T) uint32 {
	sum := uint32(0)
	whole := len(text) &^ 3
	for k := 0; k < whole; k += 4 {
		block := uint32(text[k]) | uint32(text[k+1])<<8 | uint32(text[k+2])<<16 | uint32(text[k+3])<<24
		sum ^= scramble(block)
		sum = bits.RotateLeft32(sum, 13)*5 + 0xe6546b64
	}
	rest := uint32(0)
	for k := len(text) - 1; k >= whole; k-- {
		rest = rest<<8 | uint32(text[k])
	}
	sum ^= scramble(rest)
	sum ^= uint32(len(text))
	sum = (sum ^ sum>>16) * 0x85ebca6b
	sum = (sum ^ sum>>13) * 0xc2b2ae35
	return sum ^ sum>>16
}

func scramble(block uint32) uint32 { return bits.RotateLeft32(block*0xcc9e2d51, 15) * 0x1b873593 }
