package exec

import (
	"kingshard/mysql/value"
)

// stream is a source with its current row.
type stream struct {
	source *Source
	row    value.Row   // Raw is nil before the first row and behind the last
	keys   []value.Key // of the current row, one for each key of the order
}

// advance goes to the next row of a stream. What it had before is gone.
func (m *merge) advance(s *stream) error {
	if err := m.flushBefore(s.source); err != nil {
		return err
	}
	row, err := s.source.next()
	s.row.Raw = row
	if row == nil || err != nil {
		return err
	}
	return m.decode(&s.row, s.keys)
}

// decode takes a row apart as far as the plan needs it.
func (m *merge) decode(row *value.Row, keys []value.Key) error {
	if len(row.Cells) == 0 {
		return nil
	}
	if err := m.layout.Split(row); err != nil {
		return broken(err)
	}
	for i := range keys {
		var err error
		if keys[i], err = m.keyTypes[i].Key(row.Cells[m.plan.Order[i].Column], m.layout.Format); err != nil {
			return broken(err)
		}
	}
	return nil
}

// compare compares the first len(a) keys of two rows in the plan's order.
func (m *merge) compare(a, b []value.Key) int {
	for i := range a {
		c := m.keyTypes[i].Compare(&a[i], &b[i])
		if c == 0 {
			continue
		}
		if m.plan.Order[i].Desc {
			return -c
		}
		return c
	}
	return 0
}

// next gives the stream whose current row is the next one of the merged rows, nil behind the last. The row of the call
// before is gone. A stream is read on only by the call that needs its next row, so a merge that stops early has not
// waited for a row that nobody wants.
func (m *merge) next() (*stream, error) {
	if len(m.plan.Order) == 0 {
		return m.nextUnordered()
	}
	w := m.winner()
	if m.advanceWinner {
		if err := m.advance(w); err != nil {
			return nil, err
		}
		m.replay()
		w = m.winner()
	}
	m.advanceWinner = true
	if w.row.Raw == nil {
		return nil, nil
	}
	return w, nil
}

// nextUnordered takes the streams one after the other.
func (m *merge) nextUnordered() (*stream, error) {
	for ; m.at < len(m.streams); m.at++ {
		s := &m.streams[m.at]
		if err := m.advance(s); err != nil {
			return nil, err
		}
		if s.row.Raw != nil {
			return s, nil
		}
	}
	return nil, nil
}

// start reads the first row of each stream and plays the first tournament.
func (m *merge) start() error {
	if len(m.plan.Order) == 0 {
		return nil
	}
	for i := range m.streams {
		if err := m.advance(&m.streams[i]); err != nil {
			return err
		}
	}
	m.losers = make([]int, len(m.streams))
	m.losers[0] = m.play(1)
	return nil
}

// The tournament of streams is a loser tree: node n > 0 plays its children's winners 2n and 2n+1 and keeps the loser; leaf
// i, the stream i, is node len(streams)+i; losers[0] is the winner of all. After the winner's row is taken, only the
// matches between its leaf and the top are played again.

func (m *merge) winner() *stream { return &m.streams[m.losers[0]] }

// play plays all matches below node n and gives the winner.
func (m *merge) play(n int) int {
	if n >= len(m.streams) {
		return n - len(m.streams)
	}
	a, b := m.play(2*n), m.play(2*n+1)
	if m.beats(b, a) {
		a, b = b, a
	}
	m.losers[n] = b
	return a
}

// replay plays the winner's matches again, with its new row.
func (m *merge) replay() {
	w := m.losers[0]
	for n := (w + len(m.streams)) / 2; n > 0; n /= 2 {
		if m.beats(m.losers[n], w) {
			w, m.losers[n] = m.losers[n], w
		}
	}
	m.losers[0] = w
}

// beats tells whether the row of stream a comes before that of stream b. Of equal rows the first stream's comes first; a
// stream that ended comes last.
func (m *merge) beats(a, b int) bool {
	x, y := &m.streams[a], &m.streams[b]
	if x.row.Raw == nil || y.row.Raw == nil {
		return y.row.Raw == nil && (x.row.Raw != nil || a < b)
	}
	if c := m.compare(x.keys, y.keys); c != 0 {
		return c < 0
	}
	return a < b
}
