package change

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql"
)

// Unfit is a server that is not fit for its place in a node: a primary that is new, or reached otherwise than the one in force, or a new
// replica.
type Unfit struct {
	Node, Addr string
	Replica    bool
	// Was is the address of the primary in force; "" of a node that is new.
	Was string
	// Why is what hinders it, such as "takes no writes".
	Why string
	// Err is why it cannot be reached, or the error that it answered with; nil without one.
	Err error
}

// Answers reports whether the server answered, be it with an error: it is up, then, and a later login may succeed.
func (u *Unfit) Answers() bool {
	return u.Err == nil || errors.As(u.Err, new(*mysql.SQLError))
}

// String names the node and the address.
func (u *Unfit) String() string {
	text := fmt.Sprintf("%s %s, the primary of node %q stays %s", u.Addr, u.Why, u.Node, u.Was)
	switch {
	case u.Replica:
		text = fmt.Sprintf("%s, a replica of node %q, %s", u.Addr, u.Node, u.Why)
	case u.Was == "":
		text = fmt.Sprintf("%s, the primary of the new node %q, %s", u.Addr, u.Node, u.Why)
	case u.Was == u.Addr:
		text = fmt.Sprintf("%s, the primary of node %q, %s with what is new of it", u.Addr, u.Node, u.Why)
	}
	if u.Err != nil {
		text += fmt.Sprintf(": %v", u.Err)
	}
	return text
}

// Unfits are those of one configuration, as an error.
type Unfits []*Unfit

// Error names all of them.
func (all Unfits) Error() string {
	texts := make([]string, len(all))
	for k, u := range all {
		texts[k] = u.String()
	}
	return strings.Join(texts, "; ")
}

// forced is the statement that takes the server all the same.
func (u *Unfit) forced() string {
	verb := "SET PRIMARY"
	if u.Replica {
		verb = "ADD REPLICA"
	}
	return fmt.Sprintf("KS NODE %s %s '%s' FORCE 'reason'", u.Node, verb, u.Addr)
}

// noteOn puts into the notes of the changes what hinders servers.
func noteOn(changes []Change, unfit Unfits) {
	for _, u := range unfit {
		node := "nodes[" + u.Node + "]"
		field := node + ".master"
		if u.Replica {
			field = node + ".slave"
		}
		at := slices.IndexFunc(changes, func(c Change) bool { return c.Path == node || c.Path == field })
		if at < 0 {
			at = slices.IndexFunc(changes, func(c Change) bool { return strings.HasPrefix(c.Path, node+".") })
		}
		if at >= 0 {
			if changes[at].Note != "" {
				changes[at].Note += "; "
			}
			changes[at].Note += u.String()
		}
	}
}
