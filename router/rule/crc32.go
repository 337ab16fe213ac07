package rule

import (
	"hash/crc32"

	"kingshard/mysql/value"
)

// CRC32 places by the CRC32 of the key's text modulo the number of shards: what MySQL computes as CRC32(key) % shards.
// Only strings of digits that begin with 0 differ, as the zeros do not count: 5, '5' and '005' are one key.
type CRC32 struct{ spread }

// NewCRC32 makes the rule for so many shards.
func NewCRC32(shards int) (*CRC32, error) {
	s, err := newSpread(shards)
	return &CRC32{s}, err
}

// Kind is crc32.
func (r *CRC32) Kind() string { return "crc32" }

// Find places a row.
func (r *CRC32) Find(v value.Value) (int, error) {
	sum, err := checksumOf("crc32", v)
	return int(sum % uint32(len(r.all))), err
}

// checksumOf is the checksum of a key's text, for a rule of a kind.
func checksumOf(kind string, v value.Value) (uint32, error) {
	var buf [keyTextMax]byte
	digits, text, ok := keyText(buf[:0], v)
	switch {
	case !ok:
		return 0, noPlace(kind, v)
	case digits != nil:
		return checksum(digits), nil
	}
	return checksum(text), nil
}

// checksum is the CRC32 (IEEE). Not hash/crc32's own function, because that makes a string's bytes escape to the heap.
func checksum[T string | []byte](text T) uint32 {
	sum := ^uint32(0)
	for k := range len(text) {
		sum = crc32.IEEETable[byte(sum)^text[k]] ^ sum>>8
	}
	return ^sum
}
