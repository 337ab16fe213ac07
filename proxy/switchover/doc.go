// Package switchover moves the role of a node's primary to one of its replicas, by plan: nothing is lost, and clients hear of nothing but a pause. See
// docs/design/roles.md.
package switchover
