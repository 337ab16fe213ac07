package config

import (
	"reflect"
	"testing"
)

// Every key of a node is one by which its primary is reached, or one of those named here: a new one is looked at.
func TestLogsInAs(t *testing.T) {
	others := map[string]bool{"name": true, "max_conns_limit": true, "adaptive_conns_limit": true, "slave": true, "down_after_noalive": true, "max_replica_lag": true, "roles": true, "on_diverged": true, "zones": true, "replica_choice": true, "replication_user": true, "replication_password": true, "replication_password_file": true}
	for k := range reflect.TypeFor[Node]().NumField() {
		var n Node
		field := reflect.ValueOf(&n).Elem().Field(k)
		key := reflect.TypeFor[Node]().Field(k).Tag.Get("yaml")
		switch field.Kind() {
		case reflect.Struct:
			n.TLS.Mode = "required"
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Map:
			field.Set(reflect.ValueOf(Zones{"x": "y"}))
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{"x"}))
		default:
			field.SetInt(1)
		}
		if got := n.LogsInAs(Node{}); got != others[key] {
			t.Errorf("another %s: %t, want %t", key, got, others[key])
		}
	}
}
