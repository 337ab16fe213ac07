package scenario

import (
	"kingshard/bench/load"
	"kingshard/bench/rig"
)

// plainTLS is kingshard whose clients use TLS; it uses none to the server. With directTLS and haproxyTLS the server has the TLS.
var (
	plainTLS   = rig.Spec{Name: "kingshard TLS", Kind: rig.Kingshard, TLS: true}
	directTLS  = rig.Spec{Name: "direct TLS", Kind: rig.Direct, TLS: true}
	haproxyTLS = rig.Spec{Name: "haproxy TLS", Kind: rig.HAProxy, TLS: true}
)

// tlsClients are those of the scenarios of overTLS.
const tlsClients = 64

// overTLS are point selects of clients with TLS and of such without, by one load generator.
func overTLS() []Scenario {
	var all []Scenario
	for _, prepared := range []bool{false, true} {
		all = append(all, Scenario{
			Family: "tls/" + form(prepared), Parameter: "clients", X: tlsClients,
			Work:    closed{clients: tlsClients, statement: load.Statement{Text: point.Text, Keys: point.Keys, Prepared: prepared}},
			Against: []rig.Spec{direct, directTLS, haproxy, haproxyTLS, plain, plainTLS},
		})
	}
	return all
}
