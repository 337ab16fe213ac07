package session

import (
	"kingshard/mysql"
	"kingshard/proxy/exec"
	"kingshard/router/plan"
)

// scatterWarnings collects what the shards of a query warned of.
type scatterWarnings struct {
	s       *Session
	loans   []loan
	queries []plan.Query
	sources []*exec.Source
	names   []mysql.TableName
	lost    []string // nodes whose connections failed at it
}

// collect keeps the warnings of the shards whose results were read to the end, those about the text as often as one server
// gives them, and tells how many they are.
func (w *scatterWarnings) collect() uint16 {
	st := &w.s.state
	pieces, truncated := 0, 0
	for k := range w.queries {
		l := find(w.loans, w.queries[k].Node)
		warnings := w.sources[k].Warnings()
		if !w.sources[k].Done() || warnings == 0 {
			continue
		}
		pieces += w.queries[k].Pieces
		had := len(st.warnings)
		if err := w.s.addWarnings(l.Pooled, w.names); err != nil {
			w.lost = append(w.lost, l.node)
			continue
		}
		truncated += max(int(warnings)-(len(st.warnings)-had), 0)
	}
	seen := map[warning]int{}
	kept := st.warnings[:0]
	for _, warned := range st.warnings {
		if ofText[warned.Code] {
			if seen[warned]++; (seen[warned]-1)%pieces != 0 {
				continue
			}
		}
		kept = append(kept, warned)
	}
	st.warnings = kept
	return uint16(min(len(kept)+truncated, 1<<16-1))
}
