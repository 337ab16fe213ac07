package session

import (
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
)

// A statement of the proxy's own is answered here, whatever a server would say; all others are not.
func TestOurs(t *testing.T) {
	table := &OwnResult{Columns: []OwnColumn{{Name: "name"}, {Name: "n", Numeric: true}}, Rows: [][]OwnCell{{{Text: "x"}, {Text: "5"}}, {{Text: "y"}, {Null: true}}}}
	for _, tt := range []struct {
		text    string
		answer  *OwnResult
		err     error
		asked   bool
		handled bool
		told    string
	}{
		{"SHOW KS NODES", table, nil, true, true, "x 5; y "},
		{"show /* now */ ks nodes", table, nil, true, true, "x 5; y "},
		{"ADMIN RELOAD", &OwnResult{}, nil, true, true, "ok 0"},
		{"KS PAUSE", &OwnResult{}, nil, true, true, "ok 0"},
		{"ADMIN NONSENSE", nil, mysql.NewSQLError(KSAdminSyntax, "no"), true, true, "error 9031"},
		{"SHOW KS NOTHING", nil, nil, true, false, ""},
		{"SHOW TABLES", table, nil, false, false, ""},
		{"SELECT 1", table, nil, false, false, ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a := newApart(t, "root")
			a.state.SetDB("shop")
			asked := false
			a.shared.Own = func(c *Caller, text string, m sqltext.Mode) (*OwnResult, error) {
				asked = true
				if c.ID != a.id || c.User != "root" || c.Host != "localhost" || c.DB != "shop" || c.Rights != account.Admin || !c.Process || c.AdminOnly || text != tt.text {
					t.Errorf("asked by %+v: %s", c, text)
				}
				return tt.answer, tt.err
			}
			ou := ours{a.client}
			handled, err := ou.own(a.says(tt.text))
			if got := a.hears(t, err); handled != tt.handled || asked != tt.asked || got != tt.told || err != tt.err {
				t.Errorf("asked %v, handled %v, hears %q", asked, handled, got)
			}
		})
	}
	a := newApart(t, "root")
	if handled, err := (ours{a.client}).own(a.says("SHOW KS NODES")); handled || err != nil {
		t.Errorf("where there are none: %v, %v", handled, err)
	}
}

// A number is a whole one where all of its column are.
func TestOursNumbers(t *testing.T) {
	for text, want := range map[string]mysql.ColumnType{"5": mysql.TypeLongLong, "0.5": mysql.TypeDouble, "1e3": mysql.TypeDouble, "": mysql.TypeLongLong} {
		if got := numericType([][]OwnCell{{{Text: "1"}}, {{Text: text}}}, 0); got != want {
			t.Errorf("of %q: %v", text, got)
		}
	}
}
