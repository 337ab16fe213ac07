package switchover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/mysql"
)

// Plan is what is to be done.
type Plan struct {
	// To is the address of the replica that becomes the primary.
	To string
	// Patience is how long transactions and other state may keep connections of the primary until the switch is given up, or they are ended with Force.
	Patience time.Duration
	Force    bool
	// User and Password are those by which replicas log in at their source; without a user what MySQL has stored is taken.
	User, Password string
	// Node returns the node as it is in force, which a reload may change on the way.
	Node func() *backend.Node
	// Follow has the node go on with the new primary.
	Follow func(addr, why string) error
}

// Report is what was done.
type Report struct {
	Held  time.Duration // for which statements waited
	Ended int           // connections with transactions or other state, with Force
	// Follow are the servers that replicate from the new primary, Left those that do not, with the reasons.
	Follow []string
	Left   []error
}

// The times of steps in which statements wait.
const (
	statementTimeout = 5 * time.Second
	catchUp          = 10 * time.Second
)

// switchover is one under way.
type switchover struct {
	Plan
	node     *backend.Node
	from, to *server
	report   Report
}

// Run does it. After an error the primary serves as before, unless the error says otherwise.
func Run(ctx context.Context, p Plan) (Report, error) {
	s := &switchover{Plan: p, node: p.Node()}
	if s.node == nil {
		return s.report, errors.New("there is no such node")
	}
	if err := s.open(ctx); err != nil {
		return s.report, err
	}
	defer func() { s.from.close(); s.to.close() }()
	if err := s.check(); err != nil {
		return s.report, err
	}
	began := time.Now()
	s.node.Withhold(backend.Switching, "its role is being given to "+p.To)
	err := s.move(ctx)
	if n := p.Node(); n != nil {
		n.Withhold(backend.Switching, "")
	}
	s.report.Held = time.Since(began)
	if err != nil {
		return s.report, err
	}
	s.repoint(ctx)
	return s.report, nil
}

// open connects to both servers.
func (s *switchover) open(ctx context.Context) (err error) {
	var to *backend.Instance
	for _, r := range s.node.Replicas {
		if r.Addr == s.To && !r.IsSource {
			to = r
		}
	}
	switch {
	case s.node.Roles == nil:
		return errors.New("the node's roles are fixed: promote the replica yourself, and say SET PRIMARY")
	case to == nil:
		return fmt.Errorf("the node has no replica at %s", s.To)
	}
	if s.from, err = connect(ctx, s.node.Primary); err != nil {
		return err
	}
	if s.to, err = connect(ctx, to); err != nil {
		s.from.close()
	}
	return err
}

// check looks whether there is a chance, before any statement waits.
func (s *switchover) check() error {
	status, err := s.to.status()
	switch {
	case err != nil:
		return err
	case status == nil:
		return fmt.Errorf("%s is no replica", s.To)
	case status.Receiver == "No" || status.Applier != "Yes": // it may be about to connect
		return fmt.Errorf("%s does not replicate: its receiver is %q, its applier %q: %s", s.To, status.Receiver, status.Applier, status.Trouble)
	}
	readOnly, err := s.from.one("SELECT @@GLOBAL.read_only", statementTimeout)
	switch {
	case err != nil:
		return err
	case backend.IsOn(readOnly):
		return fmt.Errorf("the primary %s takes no writes: there is nothing to be moved by plan", s.from.addr)
	}
	return s.to.catchUp(s.from, catchUp) // so that little is left to wait for
}

// move is what statements wait for.
func (s *switchover) move(ctx context.Context) error {
	if err := s.drain(ctx); err != nil {
		return err
	}
	err := s.from.setReadOnly(true)
	if err == nil {
		err = s.to.catchUp(s.from, catchUp)
	}
	if err == nil {
		err = s.to.exec("STOP " + s.to.words().replica)
	}
	if err != nil {
		return s.back(err)
	}
	if err := s.to.exec("RESET " + s.to.words().replica + " ALL"); err != nil {
		return s.back(errors.Join(err, s.to.exec("START "+s.to.words().replica)))
	}
	if err := s.to.setReadOnly(false); err != nil {
		return fmt.Errorf("%s has stopped to replicate, and takes no writes, and neither does %s: set read_only there by hand: %w", s.To, s.from.addr, err)
	}
	// Ahead of the first change of a client: of the two the later epoch is right, whatever happens.
	_ = health.BeginEpoch(s.to.instance, s.node.Roles.Epoch()+1, time.Now().Add(statementTimeout))
	if err := s.Follow(s.To, "switchover"); err != nil {
		return fmt.Errorf("%s is the primary by now, which the proxy could not follow: %w", s.To, err)
	}
	return nil
}

// back has the primary go on.
func (s *switchover) back(cause error) error {
	if err := s.from.setReadOnly(false); err != nil {
		return fmt.Errorf("%w; the primary %s was left read-only: %w", cause, s.from.addr, err)
	}
	return cause
}

// drain waits until no session has a connection to the primary any more.
func (s *switchover) drain(ctx context.Context) error {
	lenders := s.node.Lenders(false)
	lent, err := backend.Drain(ctx, lenders, s.Patience)
	switch {
	case err != nil:
		return err
	case lent == 0:
		return s.awaitHeartbeat(ctx)
	case !s.Force:
		return fmt.Errorf("%d connections of the primary are still in use after %v, by transactions or what sessions keep there (SHOW KS SESSIONS): FORCE ends them", lent, s.Patience)
	}
	s.report.Ended = lent
	backend.EndLent(lenders)
	s.from.close()
	s.to.close()
	return s.open(ctx)
}

// awaitHeartbeat waits for the end of a heartbeat that is under way; none begins while statements wait.
func (s *switchover) awaitHeartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.node.Roles.Beating() {
		select {
		case <-ctx.Done():
			return errors.New("the primary does not end a change of " + health.HeartbeatTable + ", as where a replica does not acknowledge or a disk is full")
		case <-tick.C:
		}
	}
	return nil
}

// repoint has the old primary and the other replicas replicate from the new one. Nobody waits for that.
func (s *switchover) repoint(ctx context.Context) {
	n := s.Node()
	if n == nil {
		return
	}
	user, password := s.User, s.Password
	if user == "" {
		user, password = s.from.storedAccount()
	}
	for _, r := range n.Replicas {
		if r.IsSource || r.Addr == s.To {
			continue
		}
		if err := s.repointOne(ctx, r, user, password); err != nil {
			s.report.Left = append(s.report.Left, fmt.Errorf("%s does not replicate from %s: %w", r.Addr, s.To, err))
			continue
		}
		s.report.Follow = append(s.report.Follow, r.Addr)
	}
}

func (s *switchover) repointOne(ctx context.Context, r *backend.Instance, user, password string) error {
	one, err := connect(ctx, r)
	if err != nil {
		return err
	}
	defer one.close()
	status, err := one.status()
	switch {
	case err != nil:
		return err
	case status != nil && status.Source == s.To:
		return nil // somebody was faster
	case status == nil && r.Addr != s.from.addr:
		return errors.New("it was no replica")
	case status != nil && user == "":
		user, password = one.storedAccount()
	}
	if user == "" {
		return errors.New("no account to replicate by is known: set replication_user")
	}
	return one.replicate(s.To, user, password)
}

// refusal returns the error of a server without what it may quote of a statement, which has a password.
func refusal(err error) error {
	var said *mysql.SQLError
	if errors.As(err, &said) {
		return fmt.Errorf("error %d", said.Code)
	}
	return err
}
