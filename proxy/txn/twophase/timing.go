package twophase

import (
	"errors"
	"time"
)

// Timing is how long things may take. Durations that a state machine measures are of its process, by a clock that does not jump.
type Timing struct {
	// Prepare bounds the answers to what is sent ahead of the decision.
	Prepare time.Duration
	// DecideAnswer is how long the anchor may take to answer the decision before the coordinator fences itself to learn what came of it.
	DecideAnswer time.Duration
	// Decide is how long the client waits for the decision before it hears that the outcome is unknown.
	Decide time.Duration
	// Complete is how long the client waits for branches of a transaction that is decided.
	Complete time.Duration
	// Retry is the pause before a question that was not answered is asked again.
	Retry time.Duration
	// Deadline is how long after the anchor is asked for its time it accepts the decision, by its own clock.
	Deadline time.Duration
	// ResolveAfter is how long a prepared branch is left to its coordinator.
	ResolveAfter time.Duration
	// Retention is how long decisions are kept. Branches that began earlier, and of which there is no decision, are left to the operator.
	Retention time.Duration
	// Settle is how long each step of the audit lets the one before rest. It is longer than Spread, and more than half of Decide.
	Settle time.Duration
	// Spread is the longest that a reader may take from its first question to its last answer.
	Spread time.Duration
	// FenceKeep is how long Aborted rows stay at least.
	FenceKeep time.Duration
}

// DefaultTiming returns the durations of the design.
func DefaultTiming() Timing {
	return Timing{
		Prepare: 5 * time.Second, DecideAnswer: 4 * time.Second, Decide: 10 * time.Second, Complete: 2 * time.Second, Retry: 200 * time.Millisecond,
		Deadline: 10 * time.Second, ResolveAfter: 3 * time.Second, Retention: time.Hour, Settle: 10 * time.Second, Spread: 2 * time.Second,
		FenceKeep: 10 * time.Minute,
	}
}

// Validate returns an error if the durations do not fit each other.
func (t Timing) Validate() error {
	switch {
	case t.DecideAnswer >= t.Decide:
		return errors.New("twophase: DecideAnswer is not shorter than Decide")
	case t.Decide >= 2*t.Settle:
		// A coordinator that still asks must not take a row that the audit has let go for one that was never there.
		return errors.New("twophase: Decide is not shorter than the two rests of an audit")
	case t.Spread >= t.Settle:
		return errors.New("twophase: Spread is not shorter than Settle")
	case t.ResolveAfter >= t.Retention, t.FenceKeep <= t.Decide:
		return errors.New("twophase: rows are not kept for as long as they are needed")
	}
	return nil
}
