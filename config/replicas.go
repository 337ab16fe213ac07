package config

import (
	"fmt"
	"strconv"
	"strings"
)

const weightMax = 1000

// Replica is one replica of a node.
type Replica struct {
	Addr   string // host:port or the absolute path of a unix socket
	Weight int    // share of the node's reads, 1 to 1000
}

// discover is the entry of Slave that stands for the replicas which the primary tells of.
const discover = "discover"

// Discovers reports whether the node has the replicas, too, that its primary tells of.
func (n Node) Discovers() bool {
	for entry := range strings.SplitSeq(n.Slave, ",") {
		if strings.TrimSpace(entry) == discover {
			return true
		}
	}
	return false
}

// Replicas reads Slave, a comma list of addr@weight; the weight is 1 when left out, blanks are cut. A blank list gives
// nil, and discover names none. The primary's own address may be among them: it then takes its share of reads.
func (n Node) Replicas() ([]Replica, error) {
	if strings.TrimSpace(n.Slave) == "" {
		return nil, nil
	}
	var replicas []Replica
	for entry := range strings.SplitSeq(n.Slave, ",") {
		r := Replica{Addr: strings.TrimSpace(entry), Weight: 1}
		if r.Addr == discover {
			continue
		}
		if k := strings.LastIndexByte(r.Addr, '@'); k >= 0 {
			weight, err := strconv.Atoi(strings.TrimSpace(r.Addr[k+1:]))
			if err != nil || weight < 1 || weight > weightMax {
				return nil, fmt.Errorf("%q: the weight after @ must be 1 to %d", r.Addr, weightMax)
			}
			r = Replica{Addr: strings.TrimSpace(r.Addr[:k]), Weight: weight}
		}
		if err := checkDial(r.Addr); err != nil {
			return nil, fmt.Errorf("%q: the address %w", r.Addr, err)
		}
		replicas = append(replicas, r)
	}
	return replicas, nil
}
