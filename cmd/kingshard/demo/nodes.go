package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"kingshard/mysql/mysqltest"
)

// node is one primary with its replica.
type node struct {
	name             string
	primary, replica *mysqltest.RealServer
}

// stop ends both servers, the replica first.
func (n *node) stop() error {
	var err error
	if n.replica != nil {
		err = n.replica.Stop()
	}
	if n.primary != nil {
		err = errors.Join(err, n.primary.Stop())
	}
	return err
}

// startNodes starts node1 and node2; those started before an error are returned with it.
func startNodes(ctx context.Context, installation mysqltest.Installation, dir string) ([]*node, error) {
	var nodes []*node
	for k := range 2 {
		n := &node{name: fmt.Sprintf("node%d", k+1)}
		nodes = append(nodes, n)
		var err error
		c := mysqltest.ServerConfig{
			Kind: installation.Kind, Dir: filepath.Join(dir, n.name+"-primary"), ServerID: 10*k + 11, Binlog: true,
			Progress: func(text string) { progress(n.name + " primary: " + text) },
		}
		if n.primary, err = mysqltest.StartServer(ctx, c); err != nil {
			return nodes, err
		}
		c.Dir, c.ServerID, c.ReplicaOf = filepath.Join(dir, n.name+"-replica"), 10*k+12, n.primary
		c.Progress = func(text string) { progress(n.name + " replica: " + text) }
		if n.replica, err = mysqltest.StartServer(ctx, c); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}
