package observe

// Replay is what came of a transaction that was replayed.
type Replay uint8

// What comes of them.
const (
	ReplayDone     Replay = iota // the client hears nothing of it
	ReplayDiffered               // an answer was another one than the client had heard
	ReplayFailed                 // there was no connection, or a statement could not be sent
	replayOutcomes
)

// ReplayNames are their names.
var ReplayNames = [replayOutcomes]string{"done", "differed", "failed"}

// CountReplay counts a transaction that was replayed.
func (c *Command) CountReplay(r Replay) { c.Counters.Replays[r].Add(1) }
