package driver

import (
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/txn/twophase"
)

// before is the fault point ahead of a step of a commit over nodes.
func before(do twophase.Do) error {
	switch do {
	case twophase.DoPrepare:
		return faultpoint.Fail(faultpoint.BeforePrepare)
	case twophase.DoDecide:
		return faultpoint.Fail(faultpoint.BeforeDecide)
	case twophase.DoCommitBranch:
		return faultpoint.Fail(faultpoint.BeforeComplete)
	}
	return nil
}

// after is the fault point behind a step which ended with err: there is none behind an error. One of the point's own loses the answer.
func after(do twophase.Do, err error) error {
	var fault error
	switch {
	case err != nil:
	case do == twophase.DoPrepare:
		fault = faultpoint.Fail(faultpoint.AfterPrepare)
	case do == twophase.DoDecide:
		fault = faultpoint.Fail(faultpoint.AfterDecide)
	case do == twophase.DoCommitBranch:
		fault = faultpoint.Fail(faultpoint.AfterComplete)
	}
	if fault != nil {
		return fault
	}
	return err
}
