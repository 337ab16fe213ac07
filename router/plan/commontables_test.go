package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWriteAgain: common table expressions that are named several times are written again on MySQL, or refused, whatever they name.
func TestWriteAgain(t *testing.T) {
	r := testRouter(t)
	chain := "WITH a0 AS (SELECT id FROM u)"
	for k := 1; k <= 40; k++ {
		chain += fmt.Sprintf(", a%d AS (SELECT x.id FROM a%d x JOIN a%d y ON x.id = y.id)", k, k-1, k-1)
	}
	for sql, want := range map[string]string{
		"WITH a AS (SELECT id FROM u) SELECT * FROM a x JOIN a y ON x.id = y.id":                                             "finish",
		"WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a x, a y, u":                                      "is not clear",
		"WITH p1 AS (SELECT * FROM p1 WHERE id = 1) SELECT * FROM p1 JOIN u ON u.id = p1.id":                                 "is not clear",
		"WITH RECURSIVE a AS (SELECT id, age FROM u UNION SELECT u.id, u.age FROM u JOIN a ON u.id = a.age) SELECT * FROM a": "finish",
		"WITH a AS (SELECT id FROM u LIMIT 1) SELECT * FROM a x JOIN a y ON x.id = y.id":                                     "may not give the same rows",
		"WITH a AS (SELECT RAND() AS id FROM u) SELECT * FROM a x JOIN a y ON x.id = y.id":                                   "may not give the same rows",
		chain + " SELECT * FROM a40": "too often",
	} {
		began := time.Now()
		st, err := parse(sql, r, mysql8)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(st, mysql8, r, "kingshard", typed)
		if err == nil && len(p.NotWatched()) > 0 {
			if st, err = parse(sql, r, mysql8, p.NotWatched()...); err != nil {
				t.Fatal(err)
			}
			p, err = Build(st, mysql8, r, "kingshard", typed)
		}
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := p.Operator.Name() + " " + p.Reason; !strings.Contains(got, want) {
			t.Errorf("%.200s: %s", sql, got)
		}
		t.Logf("%.60s: %v", sql, time.Since(began))
	}
}
