package driver

import (
	"time"

	"kingshard/proxy/txn/twophase"
)

// Fit is whether the servers of all nodes qualify for transactions over several nodes, as far as is known.
type Fit uint32

// The answers.
const (
	// NotAsked: nobody has asked yet.
	NotAsked Fit = iota
	// Unfit: one does not qualify or lacks something, or did not answer when it was asked last.
	Unfit
	// Qualified: all do, and have what is needed.
	Qualified
)

// fitEvery is the pause between two looks at servers that did not qualify.
const fitEvery = 30 * time.Second

// Fit returns what is known, which Run keeps up to date where the configuration leaves it to the servers, and asks nobody.
func (d *Driver) Fit() Fit { return Fit(d.fit.Load()) }

// Ask returns what Fit does, and has the servers asked by the deadline where nobody has yet.
func (d *Driver) Ask(deadline time.Time) Fit {
	if fit := d.Fit(); fit != NotAsked {
		return fit
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	if d.Fit() == NotAsked {
		_, _ = d.ask(deadline) // which logs it
	}
	return d.Fit()
}

// ask does as Ask, and returns the key of rows. What it finds is logged where it is not what was found before.
func (d *Driver) ask(deadline time.Time) (twophase.Secret, error) {
	secret, err := d.ready(d.sorted(), deadline)
	fit, reason := Qualified, ""
	if err != nil {
		fit, reason = Unfit, err.Error()
	}
	d.fit.Store(uint32(fit))
	if before := d.reason.Swap(&reason); before == nil || *before != reason {
		if err == nil {
			d.log.Info("transactions over several nodes: all nodes can keep one, or none")
		} else {
			d.log.Warn("transactions over several nodes: not all nodes can keep one, or none", "reason", reason)
		}
	}
	return secret, err
}

// Reason returns why servers were found not to qualify; "" where that was not found.
func (d *Driver) Reason() string {
	if reason := d.reason.Load(); reason != nil {
		return *reason
	}
	return ""
}
