package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// level is what the proxy has of everything that can leak, and what it waits for.
type level struct {
	Heap        float64 // bytes in use behind a collection
	Memory      float64 // resident bytes
	Goroutines  float64
	Files       float64 // descriptors, without those of connections to servers
	Connections float64 // to servers
	InUse       float64 // of them, by sessions
	Waiting     float64 // statements that wait for one
	Sessions    float64
	Doubt       float64 // transactions over nodes that are not at their end
	Incidents   float64
	Down        float64 // instances
}

// level asks the proxy; collected is behind a collection of garbage.
func (s *subject) level(ctx context.Context, collected bool) (level, error) {
	if collected {
		if err := s.page(ctx, "/debug/pprof/heap?gc=1", func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}); err != nil {
			return level{}, err
		}
	}
	sums := map[string]float64{}
	err := s.page(ctx, "/metrics", func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, rest, labelled := strings.Cut(lines.Text(), "{")
			if labelled {
				_, rest, _ = strings.Cut(rest, "} ")
			} else {
				name, rest, _ = strings.Cut(lines.Text(), " ")
			}
			if v, err := strconv.ParseFloat(rest, 64); err == nil {
				sums[name] += v
				if name == "kingshard_instance_up" && v == 0 {
					sums["down"]++
				}
			}
		}
		return lines.Err()
	})
	l := level{
		Heap: sums["go_memstats_heap_alloc_bytes"], Memory: sums["process_resident_memory_bytes"], Goroutines: sums["go_goroutines"],
		Files: sums["process_open_fds"] - sums["kingshard_pool_connections_open"], Connections: sums["kingshard_pool_connections_open"],
		InUse: sums["kingshard_pool_connections_in_use"], Waiting: sums["kingshard_pool_waiting"], Sessions: sums["kingshard_sessions"],
		Doubt: sums["kingshard_atomic_in_doubt"] + sums["kingshard_atomic_committing"], Incidents: sums["kingshard_atomic_incidents"], Down: sums["down"],
	}
	if err == nil && (l.Goroutines == 0 || l.Memory == 0 || sums["kingshard_pool_connections_max"] == 0) {
		err = fmt.Errorf("metrics are missing: %+v", l)
	}
	return l, err
}

// page reads a page of the proxy's, by a connection of its own.
func (s *subject) page(ctx context.Context, path string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.web+path, nil)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return read(response.Body)
}

// What may be more than it was without being a leak: caches fill, and pools of goroutines grow with what ran at once.
const (
	heapSlack      = 8 << 20
	goroutineSlack = 20
	fileSlack      = 8
)

// leaked tells what l has more than before had, without clients; "" is nothing.
func (l level) leaked(before level) string {
	var more []string
	for _, one := range []struct {
		name               string
		now, before, slack float64
	}{
		{"bytes of heap", l.Heap, before.Heap, heapSlack}, {"goroutines", l.Goroutines, before.Goroutines, goroutineSlack}, {"descriptors", l.Files, before.Files, fileSlack},
		{"connections in use", l.InUse, 0, 0}, {"statements waiting", l.Waiting, 0, 0}, {"sessions", l.Sessions, 0, 0},
	} {
		if one.now > one.before+one.slack {
			more = append(more, fmt.Sprintf("%.0f %s, %.0f before", one.now, one.name, one.before))
		}
	}
	return strings.Join(more, "; ")
}

// settleMax is how long the proxy may take to be what it was when all clients are gone, and to end what was left in doubt.
const settleMax = 15 * time.Second

// settled waits until the proxy has nothing more than it had before, and nothing is in doubt; the error says what there is after settleMax.
func (s *subject) settled(ctx context.Context, before level) (leaked, doubt string, err error) {
	for end := time.Now().Add(settleMax); ; {
		l, err := s.level(ctx, true)
		if err != nil {
			return "", "", err
		}
		leaked, doubt = l.leaked(before), ""
		prepared, err := s.prepared(ctx)
		if err != nil {
			return "", "", err
		}
		if l.Doubt > 0 || prepared > 0 || l.Incidents > before.Incidents {
			doubt = fmt.Sprintf("%.0f transactions in doubt, %d branches prepared, %.0f incidents", l.Doubt, prepared, l.Incidents-before.Incidents)
		}
		if leaked == "" && doubt == "" || time.Now().After(end) {
			return leaked, doubt, nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return "", "", err
		}
	}
}

// prepared counts the branches that are prepared on the nodes' servers.
func (s *subject) prepared(ctx context.Context) (n int, err error) {
	for k := range s.servers {
		rows, err := s.admins[k].QueryContext(ctx, "XA RECOVER")
		if err != nil {
			return 0, err
		}
		for rows.Next() {
			n++
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return 0, err
		}
	}
	return n, nil
}
