package admin

import (
	"fmt"
	"slices"
	"strings"
)

// Unfit is a primary that is new, or reached otherwise than the one in force, and is not fit to be one.
type Unfit struct {
	Node, Addr string
	// Was is the address in force; "" of a node that is new.
	Was string
	// Why is what hinders it, such as "takes no writes".
	Why string
	// Err is why it cannot be reached; nil if it can.
	Err error
}

// String names the node and the address.
func (u *Unfit) String() string {
	text := fmt.Sprintf("%s %s, the primary of node %q stays %s", u.Addr, u.Why, u.Node, u.Was)
	switch u.Was {
	case "":
		text = fmt.Sprintf("%s, the primary of the new node %q, %s", u.Addr, u.Node, u.Why)
	case u.Addr:
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

// noteOn puts into the notes of the changes what hinders primaries.
func noteOn(changes []placedChange, unfit Unfits) {
	for _, u := range unfit {
		node := "nodes[" + u.Node + "]"
		at := slices.IndexFunc(changes, func(c placedChange) bool { return c.Path == node || c.Path == node+".master" })
		if at < 0 {
			at = slices.IndexFunc(changes, func(c placedChange) bool { return strings.HasPrefix(c.Path, node+".") })
		}
		if at >= 0 {
			changes[at].note = u.String()
		}
	}
}
