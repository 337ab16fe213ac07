package sqltext

// Wide reports whether a name has bytes beyond ASCII.
func Wide(name string) bool { return !IsASCII(name) }

// Odd reports whether a name has other characters than ASCII letters, digits, _, $ and dots. Servers compare many kinds of names by a
// collation that ignores case, accents and blanks at the end, or by letters of upper case: MySQL takes @@autocommít and @@`autocommit ` for
// autocommit, and both MySQL and MariaDB take processlİst for the processlist of information_schema.
func Odd(name string) bool {
	for k := range len(name) {
		if c := name[k]; c != '.' && (c >= 0x80 || !isIdent(c)) {
			return true
		}
	}
	return false
}

// MayEqual reports whether a server may take a name for another one, which is of ASCII letters in lower case. The letters of ASCII count in
// either case; beyond them each run of bytes stands for one to as many letters as it has bytes, of any kind. Blanks and control characters at
// the end do not count. MySQL manual: "Identifier Case Sensitivity".
func MayEqual(name, lower string) bool {
	for name != "" && name[len(name)-1] <= ' ' {
		name = name[:len(name)-1]
	}
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
