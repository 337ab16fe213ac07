package state

import (
	"slices"

	"kingshard/backend"
)

// Describe adds to d what another process must know of the state. What it lists is the state's own.
func (st *State) Describe(d *Description) {
	d.DB, d.Vars, d.Flags, d.Collation, d.Resolved = st.db, st.vars, st.flags, st.collation, st.resolved
	if st.presumedMode {
		d.Vars = slices.DeleteFunc(slices.Clone(st.vars), func(v backend.Var) bool { return v.Name == sqlMode })
	}
	d.Mode, d.Strict, d.Autocommit = st.Mode, st.Strict, st.Autocommit
	d.FoundRows, d.LastInsertID = st.Found.n, st.InsertID.last
	d.RowCount, d.Warnings = st.Diagnostics.RowCount, st.Diagnostics.Warnings
	d.WarningCount, d.ErrorCount = uint32(st.Diagnostics.WarningCount), uint32(st.Diagnostics.ErrorCount)
}

// Restore returns the state that another process has described. It goes on with the description's lists.
func Restore(d *Description) State {
	st := State{
		db: d.DB, vars: d.Vars, flags: d.Flags, collation: d.Collation, resolved: d.Resolved, Mode: d.Mode, Strict: d.Strict, Autocommit: d.Autocommit,
		Found: FoundRowsOf(d.FoundRows), InsertID: InsertIDOf(d.LastInsertID),
		Diagnostics: Diagnostics{RowCount: d.RowCount, Warnings: d.Warnings, WarningCount: int(d.WarningCount), ErrorCount: int(d.ErrorCount)},
	}
	st.presumed = !d.Resolved && st.Value("character_set_client") != ""
	return st
}
