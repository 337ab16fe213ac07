package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Verify returns an error unless every sample was taken by this run, of a revision that can be had again, one after another and each
// once. Figures of several runs are no comparison: the machine, the servers and the proxy differ between them.
func (r *Run) Verify() error {
	if err := VerifyRevision(r.Revision); err != nil {
		return fmt.Errorf("run %s: %w", r.Name(), err)
	}
	if len(r.Samples) == 0 {
		return fmt.Errorf("run %s has no samples", r.Name())
	}
	return errors.Join(r.verifyRuns(), r.verifyBefore(), r.verifyCopies(), r.verifyTimes())
}

// VerifyRevision returns an error unless a revision names all that was measured, so that it can be had again.
func VerifyRevision(name string) error {
	switch {
	case name == "" || name == "unknown" || name == "development":
		return errors.New("it is not known which revision this is")
	case strings.HasSuffix(name, "+") || strings.HasSuffix(name, "-dirty"):
		return fmt.Errorf("revision %s has changes that are not committed", name)
	}
	return nil
}

// verifyRuns returns an error that names the other runs that samples are of.
func (r *Run) verifyRuns() error {
	var others []string // in the order in which they appear
	counts := make(map[string]int)
	for _, s := range r.Samples {
		if s.Run == r.Name() {
			continue
		}
		if counts[s.Run]++; counts[s.Run] == 1 {
			others = append(others, s.Run)
		}
	}
	var errs []error
	for _, name := range others {
		if name == "" {
			errs = append(errs, fmt.Errorf("run %s: %d samples do not say of which run they are", r.Name(), counts[name]))
		} else {
			errs = append(errs, fmt.Errorf("run %s: %d samples are of run %s", r.Name(), counts[name], name))
		}
	}
	return errors.Join(errs...)
}

// verifyBefore returns an error if another program was measured beside the run's.
func (r *Run) verifyBefore() error {
	for _, s := range r.Samples {
		if strings.HasSuffix(s.Contender, Before) {
			return fmt.Errorf("run %s: %q is another revision", r.Name(), s.Contender)
		}
	}
	return nil
}

// verifyCopies returns an error that names samples of one turn, and samples with the figures of another: no two turns
// give the same.
func (r *Run) verifyCopies() error {
	var errs []error
	turns, figures := make(map[string]bool), make(map[string]string)
	for _, s := range r.Samples {
		turn := fmt.Sprintf("%s, %s, round %d", s.Name(), s.Contender, s.Round)
		if turns[turn] {
			errs = append(errs, fmt.Errorf("run %s: two samples are %s", r.Name(), turn))
		}
		turns[turn] = true
		if s.Metrics == nil {
			continue
		}
		metrics, err := json.Marshal(s.Metrics)
		if err != nil {
			return err // a figure that is no number
		}
		if of, ok := figures[string(metrics)]; ok {
			errs = append(errs, fmt.Errorf("run %s: %s is a copy of %s", r.Name(), turn, of))
		}
		figures[string(metrics)] = turn
	}
	return errors.Join(errs...)
}

// verifyTimes returns an error that names the first sample that did not begin behind the one before it, or not in the run's time.
func (r *Run) verifyTimes() error {
	last := r.Started
	for i, s := range r.Samples {
		if s.Began.Before(last) || i > 0 && s.Began.Equal(last) || s.Began.After(r.Ended) {
			return fmt.Errorf("run %s, from %s to %s: %s, %s, round %d began at %s, behind a turn of %s", r.Name(),
				r.Started.Format(time.RFC3339), r.Ended.Format(time.RFC3339), s.Name(), s.Contender, s.Round,
				s.Began.Format(time.RFC3339Nano), last.Format(time.RFC3339Nano))
		}
		last = s.Began
	}
	return nil
}
