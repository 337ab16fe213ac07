package sqltext

import (
	"strconv"
	"strings"
)

// ModeOf gives the mode of a server of a version, as its greeting, SELECT VERSION(), logs and dumps have it: 8.4.0-log, or 10.11.6-MariaDB, ahead of which MariaDB puts
// "5.5.5-" in its greeting so that old replicas accept it. The mode is zero where the text is no version.
func ModeOf(version string) (m Mode) {
	maria := strings.Contains(version, "MariaDB")
	if maria {
		version = strings.TrimPrefix(version, "5.5.5-")
	}
	if end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		version = version[:end]
	}
	number := 0
	for k, part := range strings.SplitN(version, ".", 3) {
		n, _ := strconv.Atoi(part)
		number += min(n, 99) * [3]int{10000, 100, 1}[k]
	}
	if number == 0 {
		return m
	}
	return Mode{MariaDB: maria, ServerVersion: int32(number)}
}
