package load

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"kingshard/mysql"
)

// Statement is what clients send again and again.
type Statement struct {
	// Text has at most one ?, the place of a key.
	Text string
	// Keys: each command has a random key from 1 to Keys.
	Keys int
	// Serial: each command has a key of its own instead, one more than the last of any client. They begin at the microseconds since 1970, so that
	// those of a later run are larger.
	Serial bool
	// Prepared sends COM_STMT_EXECUTE of a statement that each client prepares when it logs in; else COM_QUERY.
	Prepared bool
}

const (
	commandsMax     = 4096
	commandBytesMax = 16 << 20 // of all commands of a statement
)

// commands makes the texts that clients send, each with another key, always the same for the same statement.
func (s Statement) commands() [][]byte {
	before, after, hasKey := strings.Cut(s.Text, "?")
	if !hasKey {
		return [][]byte{queryCommand(s.Text)}
	}
	if s.Serial {
		return [][]byte{queryCommand(before), []byte(after)} // with a key in between
	}
	n := min(commandsMax, max(1, commandBytesMax/len(s.Text)))
	commands := make([][]byte, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range commands {
		commands[i] = queryCommand(before + strconv.Itoa(1+random.IntN(s.Keys)) + after)
	}
	return commands
}

// Check tells what is wrong with a statement.
func (s Statement) Check() error {
	switch n := strings.Count(s.Text, "?"); {
	case s.Text == "":
		return fmt.Errorf("a statement without text")
	case n > 1:
		return fmt.Errorf("a statement with %d places for a key", n)
	case n == 1 && s.Keys < 1 && !s.Serial:
		return fmt.Errorf("a statement with a place for a key and no keys")
	}
	return nil
}

// serial returns what counts the keys of all clients, nil where they are random.
func (s Statement) serial() *atomic.Uint64 {
	if !s.Serial {
		return nil
	}
	n := new(atomic.Uint64)
	n.Store(uint64(time.Now().UnixMicro()))
	return n
}

// use makes the client send a statement; commands are those of the statement, serial counts its keys or is nil. seed makes its order of keys its own.
func (c *Client) use(s Statement, commands [][]byte, serial *atomic.Uint64, seed uint64) error {
	c.next, c.serial = seed*0x9e3779b97f4a7c15|1, serial
	if !s.Prepared {
		c.commands = commands
		return nil
	}
	ok, err := c.prepare(s.Text)
	if err != nil {
		return err
	}
	c.prepared, c.keys = true, uint64(max(1, s.Keys))
	c.commands = [][]byte{executeCommand(ok)}
	return nil
}

// executeCommand makes a COM_STMT_EXECUTE with at most one parameter, a BIGINT in its last eight bytes. MySQL manual:
// "COM_STMT_EXECUTE".
func executeCommand(ok mysql.StmtPrepareOK) []byte {
	p := mysql.AppendUint32([]byte{byte(mysql.ComStmtExecute)}, ok.StatementID)
	p = append(p, 0)             // no cursor
	p = mysql.AppendUint32(p, 1) // iterations
	if ok.Params == 1 {
		p = append(p, 0, 1, byte(mysql.TypeLongLong), 0) // no NULL, types follow
		p = append(p, make([]byte, 8)...)
	}
	return p
}

// command gives the next command, good until the next call.
func (c *Client) command() []byte {
	c.next ^= c.next << 13
	c.next ^= c.next >> 7
	c.next ^= c.next << 17
	key := uint64(0)
	if c.serial != nil {
		key = c.serial.Add(1)
	}
	switch {
	case !c.prepared && c.serial != nil && len(c.commands) == 2:
		c.made = strconv.AppendUint(append(c.made[:0], c.commands[0]...), key, 10)
		c.made = append(c.made, c.commands[1]...)
		return c.made
	case !c.prepared:
		return c.commands[c.next%uint64(len(c.commands))]
	case c.serial == nil:
		key = 1 + c.next%c.keys
	}
	p := c.commands[0]
	if len(p) > executeHeaderLen {
		binary.LittleEndian.PutUint64(p[len(p)-8:], key)
	}
	return p
}

// executeHeaderLen is the length of a COM_STMT_EXECUTE without parameters.
const executeHeaderLen = 10
