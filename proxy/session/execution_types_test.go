package session

import (
	"bytes"
	"testing"

	"kingshard/mysql"
)

// The types of an execution's parameters are those that came last, whole: the same again, others, none, and what is cut off.
func TestTypesOfExecutions(t *testing.T) {
	s := assemble()
	s.client.conn = mysql.NewConn(nil, mysql.ClientSide, 1<<10)
	st := &stmt{params: 2}
	head := []byte{1, 0, 0, 0, 0, 1, 0, 0, 0, 0} // id, no cursor, one iteration; no NULLs
	long, text := []byte{byte(mysql.TypeLong), 0}, []byte{byte(mysql.TypeVarString), 0}
	values := []byte{7, 0, 0, 0, 8, 0, 0, 0}
	with := func(parts ...[]byte) []byte { return bytes.Join(append([][]byte{head}, parts...), nil) }
	numbers := bytes.Join([][]byte{long, long}, nil)
	for _, c := range []struct {
		name   string
		packet []byte
		fails  bool
		types  []byte // afterwards
		values []byte
	}{
		{"none before any", with([]byte{0}, values), true, nil, nil},
		{"numbers", with([]byte{1}, numbers, values), false, numbers, values},
		{"the same", with([]byte{1}, numbers, values), false, numbers, values},
		{"none", with([]byte{0}, values), false, numbers, values},
		{"cut off", with([]byte{1}, long), true, numbers, nil},
		{"a text", with([]byte{1}, long, text, values[:4], []byte{1, 'a'}), false, append(bytes.Clone(long), text...), []byte{7, 0, 0, 0, 1, 'a'}},
		{"none then", with([]byte{0}, values[:4], []byte{0}), false, append(bytes.Clone(long), text...), []byte{7, 0, 0, 0, 0}},
		{"numbers again", with([]byte{1}, numbers, values), false, numbers, values},
	} {
		var ex execution
		if err := s.stmts.decodeExecution(&ex, st, c.packet); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		clear(c.packet) // the read buffer is used again
		if !bytes.Equal(st.types, c.types) {
			t.Errorf("%s: the statement has types %v, want %v", c.name, st.types, c.types)
		}
		if !c.fails && (!bytes.Equal(ex.types, c.types) || len(ex.values) != len(c.values) || ex.attributes != nil) {
			t.Errorf("%s: types %v, values %v, attributes %v", c.name, ex.types, ex.values, ex.attributes)
		}
	}
	packet := with([]byte{1}, numbers, values)
	var ex execution
	if n := testing.AllocsPerRun(100, func() { _ = s.stmts.decodeExecution(&ex, st, packet) }); n != 0 {
		t.Errorf("an execution with the types of the one before allocates %v times", n)
	}
}
