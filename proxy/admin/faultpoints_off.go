//go:build !faultpoints

package admin

// What builds with the tag faultpoints have beside the others.
var (
	testCommands []*command
	testTables   []*table
)
