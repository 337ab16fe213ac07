// Package proxy is the server: listeners, the list of sessions, reload by a swap of one snapshot, and drain.
// Start with [New], then [Server.Serve]; [Server.Reload] takes a new configuration, [Server.Shutdown] ends it all.
package proxy
