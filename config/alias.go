package config

import (
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"
)

// aliasNodesMax bounds the values that aliases may add to a file: a few lines of aliases of aliases can stand for
// billions of values.
const aliasNodesMax = 100_000

// checkAliases refuses a tree whose aliases expand too far or contain themselves.
func checkAliases(root *yaml.Node) error {
	e := expansion{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	if e.size(root) > e.written+aliasNodesMax {
		return fmt.Errorf("aliases expand to more than %d values", aliasNodesMax)
	}
	return e.err
}

type expansion struct {
	sizes   map[*yaml.Node]int  // of anchored nodes that were walked
	open    map[*yaml.Node]bool // anchored nodes being walked
	written int                 // nodes of the file itself
	err     error
}

// size is the number of nodes under n with aliases expanded, itself included, or some number above the limit.
func (e *expansion) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		e.written++
		if e.open[n.Alias] {
			e.err = errors.New("an alias is part of what it stands for")
			return 1
		}
		return e.sizes[n.Alias] // an anchor comes before its aliases, so its size is known
	}
	e.written++
	e.open[n] = true
	total := 1
	for _, child := range n.Content {
		total = min(total+e.size(child), sizeMax+aliasNodesMax+1)
	}
	delete(e.open, n)
	if n.Anchor != "" {
		e.sizes[n] = total
	}
	return total
}
