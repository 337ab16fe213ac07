package backend

import (
	"fmt"
	"testing"

	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
)

// Statements over definitions are kept for a server that is down up to a number, and behind that nothing is known of it until it answers.
func TestStoredChangesAreBounded(t *testing.T) {
	i := new(Instance)
	i.stored.asked = make(chan struct{}, 1)
	i.SetStored(new(stored.Objects), nil)
	i.AmendStored("CREATE VIEW runs AS SELECT 1", "d", sqltext.Mode{})
	for k := range 20*changesMax + 10 {
		text := fmt.Sprintf("CREATE VIEW v%d AS SELECT 1", k)
		i.AmendStored(text, "d", sqltext.Mode{})
		i.StoredChanged(text)
		if n := len(i.stored.changes); n > changesMax+2 {
			t.Fatalf("%d changes are kept behind %d statements", n, k+1)
		}
	}
	if i.Stored() != nil {
		t.Error("something is known of a server that was not asked for long")
	}
	seen := i.ChangesSeen()
	i.AmendStored("CREATE VIEW later AS SELECT 1", "d", sqltext.Mode{})
	i.StoredChanged("CREATE VIEW later AS SELECT 1")
	i.SetStored(new(stored.Objects), seen)
	if i.Stored() == nil || len(i.stored.changes) != 2 {
		t.Errorf("%d changes are kept behind an answer, of one that runs and one that came later", len(i.stored.changes))
	}
}
