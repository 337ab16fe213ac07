package health

import (
	"errors"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
)

// BeginEpoch writes on a primary that it is that from now on, by the proxy's own account, within the deadline. least is the epoch that it is at least: one more
// than any known. Where the server's epoch is its own already it stays, so that several proxies write one.
func BeginEpoch(i *backend.Instance, least uint64, deadline time.Time) error {
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	w := rolesWatch{conn: c}
	var o roles.Observation
	if err := w.askServer(&o); err != nil {
		return err
	}
	if err := w.askEpoch(&o); err != nil {
		return err
	}
	switch {
	case o.ReadOnly: // an account with rights over that would write where nobody else may
		return errors.New("the server takes no writes")
	case o.Epoch.Number > 0 && o.Epoch.Server == o.Server:
		return nil // what writes nothing leaves nothing in the binary log, either
	}
	// Assignments are made from left to right: server comes last.
	write := "INSERT INTO " + EpochTable + " (id, epoch, server, since) VALUES (1, " + strconv.FormatUint(least, 10) + ", " + literal(o.Server) + ", UTC_TIMESTAMP(6)) " +
		"ON DUPLICATE KEY UPDATE since = IF(server = VALUES(server), since, VALUES(since)), epoch = IF(server = VALUES(server), epoch, GREATEST(epoch + 1, VALUES(epoch))), server = VALUES(server)"
	return epochTable.execMaking(c, write)
}
