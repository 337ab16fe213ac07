package process

// EndReason says why a session ended. The set is closed: metrics and logs name these and no others.
type EndReason uint8

// The reasons.
const (
	EndQuit        EndReason = iota // COM_QUIT
	EndClientGone                   // the client's connection broke or was closed without COM_QUIT
	EndProtocol                     // the client broke the protocol
	EndDenied                       // the login failed
	EndHandshake                    // no login within the handshake time-out
	EndIdle                         // no command within the idle time-out
	EndStalled                      // the client stopped reading its result
	EndKilled                       // KILL
	EndDrained                      // the proxy shuts down
	EndBackendLost                  // the backend connection that held the session's state broke
	EndPanic                        // a fault in the proxy, logged with its stack
	EndMoved                        // the process of another binary goes on with it

	EndReasons // how many there are
)

var endNames = [EndReasons]string{
	"quit", "client_gone", "protocol", "denied", "handshake_timeout", "idle_timeout", "client_stalled", "killed", "drained", "backend_lost", "panic",
	"moved",
}

// String returns the label used in metrics and logs.
func (r EndReason) String() string { return endNames[r] }
