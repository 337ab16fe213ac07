package config

import (
	"fmt"
	"slices"
)

// sequenceStepMax bounds the ids that are reserved at a time.
const sequenceStepMax = 1_000_000

const kindSnowflake = "snowflake"

// Snowflake reports whether ids are made of the time and a worker number.
func (s Sequence) Snowflake() bool { return s.Kind == kindSnowflake }

// checkSequence checks where rule k has its ids from.
func (s *Schema) checkSequence(r *report, path string, k int) {
	rule, at := &s.Shard[k], path+".sequence"
	if rule.Sequence == (Sequence{}) {
		return
	}
	if rule.Type == typeSingle {
		r.fault(at, "has no use with type %s, whose server counts by itself: remove it", rule.Type)
		return
	}
	if rule.Sequence.Kind != "" {
		r.oneOf(at+".kind", rule.Sequence.Kind, "block", kindSnowflake)
	}
	if rule.Sequence.Step != 0 && rule.Sequence.Kind == kindSnowflake {
		r.fault(at+".step", "is for kind block only")
	} else if rule.Sequence.Step != 0 {
		r.between(at+".step", rule.Sequence.Step, 1, sequenceStepMax)
	}
	if node := rule.Sequence.Node; node != "" && !slices.Contains(s.Nodes, node) {
		r.fault(at+".node", "node %q is not among the schema's nodes", node)
	}
}

// checkSequences checks that a table has one sequence, whichever schemas have it.
func (c *Config) checkSequences(r *report) {
	type table struct{ db, name string }
	type use struct {
		sequence Sequence
		path     string
	}
	first := map[table]use{}
	for k, s := range c.SchemaList {
		for i, rule := range s.Shard {
			t := table{rule.DB, rule.Table}
			at := fmt.Sprintf("schema_list[%d].shard[%d].sequence", k, i)
			switch other, dup := first[t]; {
			case !dup:
				first[t] = use{rule.Sequence, at}
			case other.sequence != rule.Sequence:
				r.fault(at, "must be the same as %s, which is of the same table", other.path)
			}
		}
	}
}
