package main

import (
	"strings"
	"time"

	"kingshard/backend"
)

// temporaryInLog gives the binlog_format of a MariaDB server by which the temporary tables, in which statements over shards collect
// their rows, are written to its binary log; "" if they are not. MariaDB manual: "Binary Log Formats".
func temporaryInLog(i *backend.Instance, timeout time.Duration) (format string, err error) {
	deadline := time.Now().Add(timeout)
	c, err := i.Dial(0, deadline)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if !c.Info.MariaDB {
		return "", nil
	}
	c.Net.SetDeadline(deadline)
	err = c.Rows("SELECT @@log_bin, @@binlog_format", 2, func(row []string) {
		if row[0] == "1" && !strings.EqualFold(row[1], "ROW") {
			format = row[1]
		}
	})
	return format, err
}
