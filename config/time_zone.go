package config

import (
	"fmt"
	"time"
)

// TimeZone gives the zone of a name of the time zone database, or of an offset such as +08:00.
func TimeZone(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%.64q is neither a time zone such as Asia/Shanghai nor an offset such as +08:00", name)
	}
	return zone, nil
}
