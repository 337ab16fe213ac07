package rule

import "time"

// Column is what is known of a key column. The zero Column is one of which nothing is known.
type Column struct {
	Class Class
	// Scale is the number of digits after the point that a Decimal, DateTime or Timestamp column stores.
	Scale int
	// Length is the size of a BINARY(n) column, whose values are padded to it; 0 for other columns.
	Length int
	// Room is what fits into the column: the bits of an integer, the digits of a Decimal ahead of the point, the characters
	// of text, the bytes of Bytes. 0: not known.
	Room int
	// NoSign is a Decimal's UNSIGNED.
	NoSign bool
	// Characters are those that a text column can hold.
	Characters Characters
	// Collation is the id of a text column's collation; 0: not known.
	Collation uint16
	// Foreign says that the client's texts are not in UTF-8, in which those of a column are placed.
	Foreign bool
	// Zone is the session's time_zone, in which it writes the values of a Timestamp column; nil: not known.
	Zone *time.Location
}

// Characters are what a character set has.
type Characters uint8

// The characters of character sets.
const (
	AnyCharacter   Characters = iota // utf8mb4 and the like, and sets of which nothing is known
	BasicPlane                       // utf8mb3, ucs2: up to U+FFFF
	WesternLatin                     // latin1, which is Windows' 1252
	ASCIICharacter                   // ascii
)

// Class is a family of column types that compare alike.
type Class uint8

// The classes.
const (
	Unknown    Class = iota // values are placed by their literal's kind, as the predecessor did
	Integer                 // TINYINT to BIGINT
	Unsigned                // the same, unsigned
	Decimal                 // DECIMAL
	Float                   // FLOAT, DOUBLE: not fit for a key, nothing is placed
	CharBinary              // CHAR, VARCHAR, TEXT under a _bin collation
	CharCI                  // the same under any other collation
	Bytes                   // BINARY, VARBINARY, BLOB
	Date                    // DATE
	DateTime                // DATETIME
	Timestamp               // TIMESTAMP
	Year                    // YEAR
	Other                   // ENUM, SET, BIT, TIME, JSON and the like: nothing is placed
)

var classNames = [...]string{
	"unknown", "integer", "unsigned", "decimal", "float", "char binary", "char ci", "bytes", "date", "datetime", "timestamp", "year", "other",
}

// String names the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "invalid"
}

// ordered tells that MySQL orders the class's values as range and date rules order keys; text is ordered by its collation.
func (c Class) ordered() bool {
	return c != CharBinary && c != CharCI && c != Bytes && c != Other && c != Float
}

// Joins tells that equal values of two columns are placed alike, so that tables are joined on them shard by shard. It is
// false where either class is not known.
func (c Column) Joins(d Column) bool {
	switch c.Class {
	case Unknown, Float, Other:
		return false
	case Integer, Unsigned:
		return d.Class == Integer || d.Class == Unsigned
	}
	return c.Class == d.Class && c.Length == d.Length
}
