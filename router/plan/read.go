package plan

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Reading is what a text is read and planned with.
type Reading struct {
	// Form says that the text is a form, see [Form].
	Form bool
	DB   string // the current database
	Mode sqltext.Mode
	// Watched tells of a name, in any case, whether a table with a rule has it.
	Watched func(name string) bool
	Router  *router.Router
	Catalog Catalog
}

// Read reads a statement and plans it, see [Build]. Where the plan is to collect tables without a rule, which names are not watched for, it reads the text
// once more for their places.
func Read(text string, r Reading) (*Plan, error) {
	made, err := r.read(text, r.Watched)
	if made == nil {
		return nil, err
	}
	unseen := made.NotWatched()
	if len(unseen) == 0 {
		return made, nil
	}
	return r.read(text, func(name string) bool {
		return r.Watched(name) || slices.ContainsFunc(unseen, func(other string) bool { return strings.EqualFold(name, other) })
	})
}

func (r *Reading) read(text string, watched func(string) bool) (*Plan, error) {
	st, err := sqlparse.Parse(text, r.Mode, watched)
	if err != nil {
		return nil, err
	}
	st.Form = r.Form
	return Build(st, r.Mode, r.Router, r.DB, r.Catalog)
}
