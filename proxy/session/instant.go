package session

import (
	"strconv"
	"strings"
	"time"

	"kingshard/mysql/value"
)

// instant writes the number of UNIX_TIMESTAMP() as a date and a time of UTC. The number 0 is the date that is none.
func instant(cell value.Cell) value.Cell {
	if cell == nil {
		return nil
	}
	seconds, fraction, _ := strings.Cut(string(cell), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return cell // for the server to refuse
	}
	text := "0000-00-00 00:00:00"
	if n != 0 || strings.Trim(fraction, "0") != "" {
		text = time.Unix(n, 0).UTC().Format(time.DateTime)
	}
	if fraction != "" {
		text += "." + fraction
	}
	return value.Cell(text)
}
