package rule

import "kingshard/mysql/value"

// Hash is the predecessor's hash rule: an integer modulo the number of shards, a negative one as its two's complement; a
// string of digits as the integer it spells, any other by its CRC32.
type Hash struct{ spread }

// NewHash makes the rule for so many shards.
func NewHash(shards int) (*Hash, error) {
	s, err := newSpread(shards)
	return &Hash{s}, err
}

// Kind is hash.
func (r *Hash) Kind() string { return "hash" }

// Find places a row.
func (r *Hash) Find(v value.Value) (int, error) {
	switch v.Kind() {
	case value.Int, value.Uint:
		return r.position(v.Uint()), nil
	case value.String, value.Bytes:
		if n, ok := parseUint(v.Text()); ok {
			return r.position(n), nil
		}
		return r.position(uint64(checksum(v.Text()))), nil
	}
	return 0, noPlace("hash", v)
}

func (r *Hash) position(n uint64) int { return int(n % uint64(len(r.all))) }
