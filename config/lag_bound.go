package config

import (
	"errors"
	"time"
)

// LagBound is how far a replica may be behind its source: a Duration, 0 for as far as it likes, or auto.
type LagBound Duration

// LagAuto is the bound that is written as auto: LagAutoMax for replicas that tell how far they are behind; those whose account may not
// ask are read from all the same.
const LagAuto LagBound = -1

// LagAutoMax is the bound of LagAuto.
const LagAutoMax = 30 * time.Second

// Max is the bound; 0: none.
func (b LagBound) Max() time.Duration {
	if b == LagAuto {
		return LagAutoMax
	}
	return time.Duration(b)
}

// MarshalText writes auto or a time.
func (b LagBound) MarshalText() ([]byte, error) {
	if b == LagAuto {
		return []byte("auto"), nil
	}
	return Duration(b).MarshalText()
}

// UnmarshalText reads what MarshalText writes.
func (b *LagBound) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*b = LagAuto
		return nil
	}
	if (*Duration)(b).UnmarshalText(text) != nil {
		return errors.New("must be auto or a duration of 0 to 8760h such as 5s, 10m or 8h; a number alone is seconds")
	}
	return nil
}
