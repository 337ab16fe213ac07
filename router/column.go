package router

import "strings"

// SameColumn reports whether two names may be those of one column. Case does not count, and MySQL takes the Turkish capital İ for i, which
// nothing else does: a change of `İd` would move rows by their key `id`. MariaDB has none of that name then. MySQL manual: "Identifier Case
// Sensitivity".
func SameColumn(a, b string) bool {
	return strings.EqualFold(a, b) || strings.Contains(a+b, "İ") && strings.EqualFold(strings.ReplaceAll(a, "İ", "i"), strings.ReplaceAll(b, "İ", "i"))
}
