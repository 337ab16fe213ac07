package sqlparse

import (
	"strings"
	"testing"

	"kingshard/mysql/collation"
	"kingshard/mysql/sqltext"
)

// Every collation of the servers, and every character set, is read wherever one may be said, and kept by its name.
func TestCollations(t *testing.T) {
	count := 0
	for _, name := range collation.Listed() {
		count++
		set, _, _ := strings.Cut(name, "_")
		if collation.Short(name) {
			set = "utf8mb4"
		}
		for _, text := range []string{
			"select a collate % from u order by b collate %", "select distinct 'x' collate % from u group by a collate % having max(b collate %) > 'x'", "select * from u where a collate % = 'x' and b like 'x' collate `%`",
			"create table u (a char(3) character set & collate %, b text collate %) character set = & collate = %", "create table u (a enum('x') charset & collate '%') default charset & collate %",
			"alter table u modify a char(3) character set & collate %, convert to character set & collate %", "select convert(a using &) collate %, cast(b as char character set &) from u", "select cast(a as char(3)) collate % from u",
		} {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "%", name), "&", set)
			for _, text := range []string{text, strings.ToUpper(text)} {
				st, err := Parse(text, sqltext.Mode{MariaDB: true}, func(name string) bool { return strings.EqualFold(name, "u") })
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if d := st.Definition; d != nil && len(d.Texts) > 0 {
					if got := strings.Replace(d.Texts[0].Collation.Name, "utf8_", "utf8mb3_", 1); got != name {
						t.Errorf("%s: the collation is %s", text, got)
					}
				}
			}
		}
	}
	if count < 1300 {
		t.Errorf("%d collations", count)
	}
	if _, err := Parse("select a collate no_such_ci from u", sqltext.Mode{}, func(name string) bool { return strings.EqualFold(name, "u") }); err == nil {
		t.Error("a collation that no server has is read")
	}
}
