package rule

import (
	"encoding/binary"

	"kingshard/mysql/value"
)

// Join makes of the values of several key columns the one that r places; a key of one column is its own. Every column
// counts, and none may be NULL. The values have gone through Convert.
func Join(r Rule, key []value.Value) (value.Value, error) {
	if len(key) == 1 {
		return key[0], nil
	}
	var joined []byte
	for _, v := range key {
		if Folds(r) {
			var err error
			if v, err = fold(r, v); err != nil {
				return v, err
			}
		}
		var buf [keyTextMax]byte
		digits, text, ok := keyText(buf[:0], v)
		if !ok {
			return v, noPlace(r.Kind(), v)
		}
		joined = binary.AppendUvarint(joined, uint64(len(digits)+len(text)))
		joined = append(append(joined, digits...), text...)
	}
	return value.NewBytes(string(joined)), nil
}
