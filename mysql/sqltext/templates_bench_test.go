package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkTemplates(b *testing.B) {
	m := Mode{ServerVersion: 80400}
	b.Run("classify/never again", func(b *testing.B) { // more texts than there are templates
		b.ReportAllocs()
		texts := make([]string, 600)
		for k := range texts {
			texts[k] = fmt.Sprintf("SELECT c%d FROM sbtest%d WHERE id=%d", k%20, k/20, k)
		}
		var t Templates
		for k := 0; b.Loop(); k++ {
			t.Classify(texts[k%len(texts)], m)
		}
	})
	for _, c := range []struct{ name, sql string }{{"point", pointSelect}, {"insert", smallInsert}, {"long", quotedSelect()}} {
		other := strings.NewReplacer("5", "6", "0", "1").Replace(c.sql)
		b.Run("classify/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var t Templates
			for b.Loop() {
				t.Classify(c.sql, m)
				t.Classify(other, m)
			}
		})
		b.Run("normal/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var t Templates
			var out []byte
			for b.Loop() {
				out = t.AppendNormal(out[:0], c.sql, m, 1024)
				out = t.AppendNormal(out[:0], other, m, 1024)
			}
		})
		b.Run("plain/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				Classify(c.sql, m)
				out = AppendNormal(out[:0], other, m, 1024)
			}
		})
	}
}
