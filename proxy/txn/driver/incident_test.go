package driver

import (
	"log/slog"
	"strings"
	"testing"

	"kingshard/proxy/txn/twophase"
)

// An incident is told once, however often it is found, and kept for who asks; the oldest go.
func TestIncidents(t *testing.T) {
	var log strings.Builder
	d := New(slog.New(slog.NewTextHandler(&log, nil)), false, nil)
	lost := twophase.Incident{Kind: twophase.IncidentLost, XID: twophase.XID{GTRID: twophase.GTRID{Anchor: 1, Sequence: 7}, Node: 2}}
	for range 3 {
		d.report(lost)
	}
	if list := d.Incidents.List(); len(list) != 1 || list[0].Incident != lost || list[0].At.IsZero() || d.Incidents.Total() != 1 {
		t.Errorf("%+v", list)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, lost.XID.GTRID.String()) || !strings.Contains(got, lost.XID.Node.String()) {
		t.Errorf("the log: %s", got)
	}
	for n := range uint64(2 * incidentsMax) {
		d.report(twophase.Incident{Kind: twophase.IncidentOld, XID: twophase.XID{GTRID: twophase.GTRID{Sequence: n}}})
	}
	if list := d.Incidents.List(); len(list) != incidentsMax || list[0].XID.Sequence != incidentsMax || d.Incidents.Total() != 2*incidentsMax+1 {
		t.Errorf("%d are kept, from %+v on, of %d", len(list), list[0], d.Incidents.Total())
	}
}
