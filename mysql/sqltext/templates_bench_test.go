package sqltext

import "testing"

func BenchmarkTemplates(b *testing.B) {
	m := Mode{ServerVersion: 80400}
	for _, c := range []struct{ name, sql string }{{"point", pointSelect}, {"insert", smallInsert}, {"new", quotedSelect()}} {
		b.Run("classify/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var t Templates
			for b.Loop() {
				t.Classify(c.sql, m)
			}
		})
		b.Run("normal/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var t Templates
			var out []byte
			for b.Loop() {
				out = t.AppendNormal(out[:0], c.sql, m, 1024)
			}
		})
		b.Run("plain/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				Classify(c.sql, m)
				out = AppendNormal(out[:0], c.sql, m, 1024)
			}
		})
	}
}
