package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

const (
	pointSelect = "SELECT c FROM sbtest1 WHERE id=12345"
	smallInsert = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (500123, 250077, '83868641912-28773972837-60736120486', '67847967377-48000963322')"
)

// wideSelect is a select of 400 columns from eight tables with aliases, the way object mappers write it, 17 KB long.
func wideSelect() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for k := range 400 {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "generatedAlias%d.column_name_%03d AS col_%d_%d", k%8, k, k%8, k)
	}
	b.WriteString(" FROM orders generatedAlias0")
	for k := 1; k < 8; k++ {
		fmt.Fprintf(&b, " LEFT OUTER JOIN order_part_%d generatedAlias%d ON generatedAlias0.id = generatedAlias%d.order_id", k, k, k)
	}
	b.WriteString(" WHERE generatedAlias0.id IN (1, 2, 3) ORDER BY generatedAlias0.id LIMIT 10")
	return b.String()
}

// quotedSelect is a select of 400 columns in backticks with aliases, as another object mapper writes it, 17 KB long.
func quotedSelect() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for k := range 400 {
		fmt.Fprintf(&b, "`wide0_`.`c%d` AS `entity_attribute_c%d_0_0_`, ", k, k)
	}
	b.WriteString("1 FROM `wide` `wide0_` WHERE `wide0_`.`c0`=5")
	return b.String()
}

// numberList is a select with a list of numbers, as long as said.
func numberList(bytes int) string {
	return "SELECT c FROM sbtest1 WHERE id=5 AND k NOT IN (-1" + strings.Repeat(", -1234567", bytes/10) + ")"
}

func BenchmarkClassify(b *testing.B) {
	for _, c := range []struct{ name, sql string }{
		{"point", pointSelect}, {"insert", smallInsert}, {"wide", wideSelect()}, {"quoted", quotedSelect()}, {"rows", wideInsert()},
		{"list=1k", numberList(1000)}, {"list=17k", numberList(17_000)}, {"list=170k", numberList(170_000)},
		{"string=1M", "REPLACE INTO sink VALUES (1, '" + strings.Repeat("0123456789", 100_000) + "')"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.sql)))
			m := Mode{ServerVersion: 80400}
			for b.Loop() {
				Classify(c.sql, m)
			}
		})
	}
}

func TestClassifyAllocatesNothing(t *testing.T) {
	for _, sql := range []string{pointSelect, smallInsert, wideSelect(), "/*node1*/ SELECT LAST_INSERT_ID(), @@x, @y := 1 /*!50000 + 1 */"} {
		if n := testing.AllocsPerRun(100, func() { Classify(sql, Mode{ServerVersion: 80400}) }); n != 0 {
			t.Errorf("%.40s: %v allocations", sql, n)
		}
	}
}
