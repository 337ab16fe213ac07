package config

import "reflect"

// LogsInAs tells whether the node's primary is reached as that of other is: at the same address, by the same account, keys and TLS.
func (n Node) LogsInAs(other Node) bool { return reflect.DeepEqual(n.login(), other.login()) }

// login is the node without what is not needed to reach its primary.
func (n Node) login() Node {
	n.Name, n.MaxConnsLimit, n.AdaptiveConnsLimit, n.Slave, n.DownAfterNoAlive, n.MaxReplicaLag = "", 0, 0, "", 0, LagBound(0)
	n.Zones, n.ReplicaChoice = nil, ""
	n.Roles, n.OnDiverged, n.ReplicationUser, n.ReplicationPassword, n.ReplicationPasswordFile = "", "", "", "", ""
	if len(n.AllowedAuthPlugins) == 0 {
		n.AllowedAuthPlugins = nil
	}
	return n
}
