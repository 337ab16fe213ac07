package txn

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestCharacteristics(t *testing.T) {
	for _, test := range []struct {
		texts []string
		taken bool
		want  string
	}{
		{[]string{"SET TRANSACTION READ ONLY"}, true, "SET TRANSACTION READ ONLY"},
		{[]string{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"}, true, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"},
		{[]string{"set transaction isolation level serializable", "SET TRANSACTION READ ONLY"}, true, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY"},
		{[]string{"SET TRANSACTION READ ONLY", "SET TRANSACTION READ WRITE"}, true, "SET TRANSACTION READ WRITE"},
		{[]string{"SET SESSION TRANSACTION READ ONLY"}, false, ""},
		{[]string{"SET @@transaction_isolation = CONCAT('SERIALIZABLE')"}, false, ""},
		{[]string{"SET sql_mode = ''"}, false, ""},
	} {
		var c Characteristics
		taken := true
		for _, text := range test.texts {
			assignments, ok := sqltext.ParseSet(text, sqltext.Mode{})
			taken = taken && ok && c.Take(assignments)
		}
		if taken != test.taken || taken && (c.Text() != test.want || !c.IsSet()) {
			t.Errorf("%q: taken %v, %q", test.texts, taken, c.Text())
		}
	}
	if c := (Characteristics{}); c.IsSet() || c.Text() != "" {
		t.Error("none are some")
	}
	if c := (Characteristics{Unknown: true}); !c.IsSet() || c.Text() != "" {
		t.Error("unknown ones are none")
	}
}
