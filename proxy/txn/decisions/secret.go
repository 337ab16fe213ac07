package decisions

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// Key is the secret by which rows are told from forged ones: all nodes of a configuration have the same.
type Key [32]byte

// String gives a name of the key that tells nothing of it.
func (k Key) String() string {
	sum := sha256.Sum256(k[:])
	return hex.EncodeToString(sum[:4])
}

// GoString is String, so that no verb prints the key.
func (k Key) GoString() string { return k.String() }

// Format is String, whatever the verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(k.String())) }

// Agree finds the key that the primaries of nodes have, within the deadline, and copies it to those that lack it. Where none has one it makes one, on
// the node whose name is the least: the first of several proxies is the one that others find. That needs an answer of every node, as one that is not
// reached may have a key; a copy needs one of who has it, and of those that are to get it. Where two nodes have different keys the error says which.
func Agree(nodes []*backend.Node, deadline time.Time) (Key, error) {
	nodes = slices.SortedFunc(slices.Values(nodes), func(a, b *backend.Node) int { return cmp.Compare(a.Name, b.Name) })
	var k keeper
	defer k.close()
	for _, n := range nodes {
		if err := k.ask(n, deadline); err != nil {
			return Key{}, place(n.Primary, err)
		}
	}
	if err := k.conflict(); err != nil {
		return Key{}, err
	}
	var key Key
	at := slices.IndexFunc(k.holders, func(h *holder) bool { return h.has })
	if at < 0 {
		if _, err := rand.Read(key[:]); err != nil {
			return Key{}, err
		}
		at = 0
		if err := k.holders[0].put(key); err != nil {
			return Key{}, err
		}
	}
	key = k.holders[at].key
	for _, h := range k.holders {
		if !h.has {
			if err := h.put(key); err != nil {
				return Key{}, err
			}
		}
	}
	return key, k.conflict()
}

// keeper asks nodes for their keys.
type keeper struct{ holders []*holder }

// holder is a node with its key, if it has one.
type holder struct {
	node *backend.Node
	conn *backend.Conn
	has  bool
	key  Key
}

func (k *keeper) close() {
	for _, h := range k.holders {
		h.conn.Close()
	}
}

func (k *keeper) ask(n *backend.Node, deadline time.Time) error {
	c, err := n.Primary.OwnUntil(deadline)
	if err != nil {
		return err
	}
	c.Net.SetDeadline(deadline)
	h := &holder{node: n, conn: c}
	k.holders = append(k.holders, h)
	for _, sql := range beforehand {
		if err := c.Exec(sql); err != nil {
			return err
		}
	}
	return h.read()
}

// read asks for the key.
func (h *holder) read() error {
	malformed := false
	err := h.conn.Rows("SELECT HEX(secret) FROM "+schema+".secret WHERE id = '1'", 1, func(row []string) {
		b, bad := hex.DecodeString(row[0])
		if malformed = bad != nil || len(b) != len(h.key); !malformed {
			h.has = true
			copy(h.key[:], b)
		}
	})
	if err == nil && malformed {
		err = errors.New("the key in " + schema + ".secret is none")
	}
	return err
}

// putTries is how often a key is written where others write one.
const putTries = 10

// put writes a key where there is none, and reads what is there then.
func (h *holder) put(key Key) error {
	for try := 1; ; try++ {
		err := h.conn.Exec("INSERT IGNORE INTO " + schema + ".secret (id, secret) VALUES ('1', X'" + hex.EncodeToString(key[:]) + "')")
		if refused := new(mysql.SQLError); errors.As(err, &refused) && (refused.Code == mysql.ERLockDeadlock || refused.Code == erLockWait) && try < putTries {
			continue
		}
		if err == nil {
			err = h.read()
		}
		if err == nil && !h.has {
			err = errors.New("the key that was written to " + schema + ".secret is not there")
		}
		if err != nil {
			return place(h.node.Primary, err)
		}
		return nil
	}
}

// conflict is an error where nodes have different keys.
func (k *keeper) conflict() error {
	byKey := map[Key][]string{}
	for _, h := range k.holders {
		if h.has {
			byKey[h.key] = append(byKey[h.key], h.node.Name)
		}
	}
	if len(byKey) < 2 {
		return nil
	}
	var all []string
	for _, key := range slices.SortedFunc(maps.Keys(byKey), func(a, b Key) int { return cmp.Compare(byKey[a][0], byKey[b][0]) }) {
		all = append(all, fmt.Sprintf("%s on %s", key, strings.Join(byKey[key], ", ")))
	}
	return fmt.Errorf("the nodes have different keys in %s.secret (%s), so that transactions over them cannot be told from forged ones: on the nodes whose %s.dtx has no row that is needed, "+
		"DELETE FROM %s.secret and DELETE FROM %s.dtx, and the key of the others is copied there", schema, strings.Join(all, "; "), schema, schema, schema)
}
