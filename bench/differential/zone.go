package differential

import (
	"errors"
	"fmt"
	"strings"
)

// zone is a time zone whose clocks are put on and back; servers come without the tables of any.
const zone = "Test/Berlin"

// timeZones are those that databases are compared in, by turns; the first is UTC.
var timeZones = []string{"", zone, "", "-03:30", zone}

// zoneID is the zone's number in the servers' tables.
const zoneID = 990002

// zoneChanges are when the clocks of the zone change: to summer and back, by turns.
var zoneChanges = []int64{1679792400, 1698541200, 1711846800, 1729990800, 1743296400}

// nearChanges are moments around the changes of 2024: to summer at 1 o'clock of March 31 in UTC, and back at 1 o'clock of October 27.
// In the zone some do not exist and some are there twice.
var nearChanges = []string{
	"2024-10-27 00:30:00", "2024-10-27 01:30:00", "2024-10-27 02:30:00", "2024-03-31 00:59:59", "2024-03-31 01:00:00", "2024-03-31 02:30:00", "2024-10-26 23:59:59", "2024-10-27 00:59:59",
	"2024-10-27 01:00:00", "2024-10-27 03:00:00", "2023-10-29 00:30:00", "2023-10-29 01:30:00",
}

// makeZones makes the zone on all servers that have it not.
func (r Round) makeZones() error {
	seen := map[string]bool{}
	addrs := []string{r.Oracle}
	for _, d := range r.Databases {
		addrs = append(addrs, d.Layout.Nodes...)
	}
	for _, addr := range addrs {
		if seen[addr] {
			continue
		}
		seen[addr] = true
		if err := makeZone(addr); err != nil {
			return fmt.Errorf("the time zone on %s: %w", addr, err)
		}
	}
	return nil
}

func makeZone(addr string) (err error) {
	c, err := dial(addr, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	there, err := c.Exec(fmt.Sprintf("SELECT 1 FROM mysql.time_zone_name WHERE Name = '%s'", zone))
	if err != nil || len(there.Rows) > 0 {
		return err
	}
	list := []string{
		fmt.Sprintf("INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (%d, 'N')", zoneID),
		fmt.Sprintf("INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (%[1]d, 0, 3600, 0, 'W'), (%[1]d, 1, 7200, 1, 'S')", zoneID),
		fmt.Sprintf("INSERT INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (%d, 0, 0)", zoneID),
	}
	for k, at := range zoneChanges {
		list = append(list, fmt.Sprintf("INSERT INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (%d, %d, %d)", zoneID, at, (k+1)%2))
	}
	list = append(list, fmt.Sprintf("INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('%s', %d)", zone, zoneID))
	_, err = c.Exec(strings.Join(list, ";\n"))
	return err
}
