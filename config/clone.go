package config

import "slices"

// Clone gives a copy whose own fields, and those of its users and nodes, may be changed; schemas and tokens are shared.
func (c *Config) Clone() *Config {
	d := *c
	d.UserList = slices.Clone(c.UserList)
	d.Nodes = slices.Clone(c.Nodes)
	return &d
}

// Node finds a node by its name; nil if there is none.
func (c *Config) Node(name string) *Node {
	for k := range c.Nodes {
		if c.Nodes[k].Name == name {
			return &c.Nodes[k]
		}
	}
	return nil
}
