package lockwaits

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
)

// What a process tells a server is the text of a statement that runs there, and that others see in the process list: nothing has to be made for it, and
// nothing is left behind. Only those with the account that asks can tell.
const (
	tells     = "DO SLEEP(0.25), 'lock waits "
	tellsOver = "'"
	// wordsMax bounds what is told at once.
	wordsMax = 1000
)

// teller has a server's process list show a text, on a connection of its own.
type teller struct {
	instance *backend.Instance
	ended    chan struct{}
	mu       sync.Mutex
	text     string
}

// tell has the servers of changes show which connections these are on.
func (w *Watch) tell(waits map[*Wait]bool, tellers map[string]*teller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.primary == nil {
		return
	}
	text := telling(w.process, waits)
	for one := range waits {
		for _, i := range one.Instances {
			if _, denied := w.denied[i.Addr]; denied {
				continue
			}
			if tellers[i.Addr] == nil {
				t := &teller{instance: i, ended: make(chan struct{})}
				tellers[i.Addr] = t
				w.running.Go(t.run)
			}
		}
	}
	for _, t := range tellers {
		t.say(text)
	}
}

func (t *teller) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = text
}

func (t *teller) stop() { close(t.ended) }

// run shows the text until stop, or until the server does not take it.
func (t *teller) run() {
	conn, err := t.instance.OwnUntil(time.Now().Add(askTimeout))
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		select {
		case <-t.ended:
			return
		default:
		}
		t.mu.Lock()
		text := t.text
		t.mu.Unlock()
		conn.Net.SetDeadline(time.Now().Add(askTimeout))
		if err := conn.Exec(tells + text + tellsOver); err != nil {
			return
		}
	}
}

// telling writes the changes of a process down: its name, and of each the session, the microsecond at which it began, and its connections, each with
// the node's name in hexadecimal digits.
func telling(process string, waits map[*Wait]bool) string {
	var b strings.Builder
	b.WriteString(process)
	words := 0
	for one := range waits {
		if words++; words > wordsMax {
			break
		}
		fmt.Fprintf(&b, " %d;%d", one.ID, one.Began.UnixMicro())
		for k, t := range one.Threads {
			fmt.Fprintf(&b, ";%s:%d", hex.EncodeToString([]byte(one.Instances[k].Node)), t.ID)
		}
	}
	return b.String()
}

// others returns the changes of other processes, of what was told. What is not to be read is left out, as are nodes that are not there.
func (w *Watch) others(told map[string]bool) (list []*Wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	type name struct{ process, id string }
	been := make(map[name]bool) // each of their servers was told
	for text := range told {
		words := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(text, tells), tellsOver))
		if len(words) == 0 || words[0] == w.process {
			continue
		}
		for _, word := range words[1:] {
			parts := strings.Split(word, ";")
			if one := w.other(words[0], parts); one != nil && !been[name{words[0], parts[0]}] {
				been[name{words[0], parts[0]}] = true
				list = append(list, one)
			}
		}
	}
	return list
}

// other returns what telling has written of one change; nil if that is not to be read.
func (w *Watch) other(process string, parts []string) *Wait {
	if len(parts) < 2 {
		return nil
	}
	id, bad := strconv.ParseUint(parts[0], 10, 32)
	began, worse := strconv.ParseInt(parts[1], 10, 64)
	if bad != nil || worse != nil {
		return nil
	}
	one := &Wait{ID: uint32(id), Began: time.UnixMicro(began), process: process}
	for _, part := range parts[2:] {
		node, thread, _ := strings.Cut(part, ":")
		name, bad := hex.DecodeString(node)
		number, worse := strconv.ParseUint(thread, 10, 32)
		if bad != nil || worse != nil {
			return nil
		}
		if i := w.primary(string(name)); i != nil {
			one.Instances, one.Threads = append(one.Instances, i), append(one.Threads, Thread{i.Addr, uint32(number)})
		}
	}
	return one
}

// told returns what processes with the asker's account show on the server. One that does not say it shows nothing.
func (a *asker) told() (texts []string) {
	list := "information_schema.processlist"
	if !a.conn.Info.MariaDB && a.conn.Info.Number >= 80022 {
		list = "performance_schema.processlist"
	}
	err := a.conn.Rows("SELECT info FROM "+list+" WHERE user = SUBSTRING_INDEX(USER(), '@', 1) AND LEFT(info, "+strconv.Itoa(len(tells))+") = '"+strings.ReplaceAll(tells, "'", "''")+"'", 1, func(row []string) {
		texts = append(texts, strings.Clone(row[0]))
	})
	if err != nil {
		return nil
	}
	return slices.Compact(texts)
}
