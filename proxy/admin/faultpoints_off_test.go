//go:build !faultpoints

package admin_test

import (
	"strings"
	"testing"
)

// Nobody can have a proxy fail that is not built for tests: the statements are none, whatever rights one has, and no help tells of them.
func TestNoFaultPoints(t *testing.T) {
	c := start(t, nil).client("root")
	for _, text := range []string{"KS FAULTPOINT before_send DO EXIT", "KS FAULTPOINT before_send DO NOTHING", "KS FAULTPOINT", "SHOW KS FAULTPOINTS"} {
		fails(t, c, text, 9031, "expected one of ", "found \"FAULTPOINT")
	}
	for _, row := range rows(t, c, "KS HELP") {
		if strings.Contains(strings.ToLower(row[0]), "faultpoint") {
			t.Errorf("KS HELP shows %q", row)
		}
	}
}
