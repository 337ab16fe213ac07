package sqlparse

import (
	"fmt"
	"testing"

	"kingshard/mysql/sqltext"
)

// TestParseShow reads every form of SHOW and DESCRIBE that is about tables.
func TestParseShow(t *testing.T) {
	for text, want := range map[string]string{
		"show columns from u":                       "0 u",
		"SHOW FULL FIELDS IN `u` IN d LIKE 'a%'":    "0 d.u from like a%",
		"show extended full columns from d.u":       "0 d.u",
		"show columns from c.u from d where 1":      "0 d.u from where 1",
		"describe u":                                "0 u",
		"desc d.u name;":                            "0 d.u",
		"explain u 'a%'":                            "0 u",
		"desc format":                               "0 format",
		"show index from u":                         "1 u",
		"show keys in u in d where `Table` = 'u'":   "1 d.u from where `Table` = 'u' named `Table`",
		"show indexes from u where x.`Table` = 'u'": "1 u where x.`Table` = 'u'",
		"show create table d.u":                     "2 d.u",
		"show create view u":                        "2 u",
		"show tables":                               "3",
		"show full tables from d like 'a'":          "3 full in d like a",
		"show table status in `d` where Name = ?":   "4 in d where Name = ?",
		"show open tables":                          "5",
		"show triggers like 'u'":                    "6 like u",
		"show columns":                              "none",
		"show columns from u like a":                "none",
		"show create procedure u":                   "none",
		"show create table u like 'a'":              "none",
		"show table":                                "none",
		"show tables from":                          "none",
		"show status":                               "none",
		"describe select 1":                         "none",
		"explain format = json select 1":            "none",
		"explain analyze u":                         "none",
		"describe u, v":                             "none",
		"select 1":                                  "none",
	} {
		sh, ok := ParseShow(text, sqltext.Mode{ServerVersion: 80400})
		got := "none"
		if ok {
			got = fmt.Sprint(sh.What)
			if sh.Full && sh.What >= ShowTables {
				got += " full"
			}
			if sh.Table != nil {
				got += " "
				if sh.Table.DB != "" {
					got += sh.Table.DB + "."
				}
				got += sh.Table.Name
			}
			if sh.DB != "" {
				got += " in " + sh.DB
			}
			if !sh.From.Empty() {
				got += " from"
			}
			if sh.Like != "" {
				got += " like " + sh.LikeText
			}
			if !sh.Where.Empty() {
				got += " where " + text[sh.Where.Pos:sh.Where.End]
			}
			for _, n := range sh.Named {
				got += " named " + text[n.Pos:n.End]
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
	if _, ok := ParseShow("show extended columns from u", sqltext.Mode{MariaDB: true}); ok {
		t.Error("MariaDB has no EXTENDED")
	}
}
