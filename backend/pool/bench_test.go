package pool

import (
	"testing"
	"time"
)

func benchPool(b *testing.B) *testPool {
	s := &server{}
	p := Open(Config[*fakeConn, string]{Max: 64, Dial: s.dial})
	b.Cleanup(p.Close)
	var pcs []*testPooled
	for range 64 {
		pc, err := p.Get("", in(time.Minute), nil)
		if err != nil {
			b.Fatal(err)
		}
		pcs = append(pcs, pc)
	}
	for i, pc := range pcs {
		pc.Key = [4]string{"", "a", "b", "c"}[i%4]
		p.Put(pc)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return p
}

func BenchmarkHit(b *testing.B) {
	p := benchPool(b)
	deadline := in(time.Hour)
	for b.Loop() {
		pc, err := p.Get("a", deadline, nil)
		if err != nil {
			b.Fatal(err)
		}
		p.Put(pc)
	}
}

func BenchmarkHitParallel(b *testing.B) {
	p := benchPool(b)
	deadline := in(time.Hour)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			pc, err := p.Get("a", deadline, nil)
			if err != nil {
				b.Error(err)
				return
			}
			p.Put(pc)
		}
	})
}
