package sqltext

// Wide reports whether a name has bytes beyond ASCII. Servers compare many kinds of names by a collation, or by letters of upper case:
// MySQL takes @@autocommít for autocommit, and both MySQL and MariaDB take processlİst for the processlist of information_schema.
func Wide(name string) bool {
	for k := range len(name) {
		if name[k] >= 0x80 {
			return true
		}
	}
	return false
}

// MayEqual reports whether a server may take a name for another one, which is of ASCII letters in lower case. The letters of ASCII count in
// either case; beyond them each run of bytes stands for one to as many letters as it has bytes, of any kind. MySQL manual: "Identifier Case
// Sensitivity".
func MayEqual(name, lower string) bool {
	for k := range len(name) {
		if name[k] < 0x80 {
			continue
		}
		if k > len(lower) || !foldEqual(name[:k], lower[:k]) {
			return false
		}
		end := k
		for end < len(name) && name[end] >= 0x80 {
			end++
		}
		for n := 1; n <= end-k && k+n <= len(lower); n++ {
			if MayEqual(name[end:], lower[k+n:]) {
				return true
			}
		}
		return false
	}
	return foldEqual(name, lower)
}
