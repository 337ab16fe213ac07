package observe

// Origin is where an error that a client heard came from.
type Origin uint8

// The origins.
const (
	OriginClient  Origin = iota // the client asked for something wrong, or broke the protocol
	OriginProxy                 // the proxy refused or could not
	OriginBackend               // the server's own answer, passed on unchanged
	origins
)

// String returns the label used in metrics and logs.
func (o Origin) String() string { return [...]string{"client", "proxy", "backend"}[o] }
