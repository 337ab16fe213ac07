package chaos

import (
	"context"
	"errors"
	"fmt"
)

// kept is what the nodes' servers have, past the proxy.
type kept struct {
	entries   map[int64]bool
	transfers map[int64][2]int64 // payer and payee
	balances  map[int64]int64
	faults    []string // rows that lie on the wrong node, or have the wrong value
}

// readBack reads the rows of ids above from, and all accounts.
func (s *subject) readBack(ctx context.Context, from int64) (*kept, error) {
	k := &kept{entries: map[int64]bool{}, transfers: map[int64][2]int64{}, balances: map[int64]int64{}}
	for node := range s.servers {
		each := func(query string, row func(a, b, c int64)) error {
			rows, err := s.admins[node].QueryContext(ctx, fmt.Sprintf(query, database, node))
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var a, b, c int64
				if err := rows.Scan(&a, &b, &c); err != nil {
					return err
				}
				if a%2 != int64(node) {
					k.faults = append(k.faults, fmt.Sprintf("row %d is on node %d", a, node+1))
				}
				row(a, b, c)
			}
			return rows.Err()
		}
		above := fmt.Sprintf(" WHERE id > %d", from)
		err := errors.Join(
			each("SELECT id, v, 0 FROM %s.entry_000%d"+above, func(id, v, _ int64) {
				k.entries[id] = true
				if v != valueOf(id) {
					k.faults = append(k.faults, fmt.Sprintf("row %d has the value %d", id, v))
				}
			}),
			each("SELECT id, payer, payee FROM %s.transfer_000%d"+above, func(id, payer, payee int64) { k.transfers[id] = [2]int64{payer, payee} }),
			each("SELECT id, balance, 0 FROM %s.account_000%d", func(id, balance, _ int64) { k.balances[id] = balance }),
		)
		if err != nil {
			return nil, err
		}
	}
	return k, nil
}

// check compares what clients heard of operations with what the servers have; before are the balances of before. Each of wrong, lost and half tells
// of one operation or account.
func (k *kept) check(operations []operation, before map[int64]int64) (wrongs, lost, half []string) {
	wrongs = k.faults
	told := func(o *operation, there bool) {
		switch {
		case o.outcome == done && !there:
			lost = append(lost, fmt.Sprintf("operation %d was done, and is not there", o.id))
		case o.outcome == refused && there:
			wrongs = append(wrongs, fmt.Sprintf("operation %d was refused (%s), and is there", o.id, o.text))
		}
	}
	for i := range operations {
		o := &operations[i]
		switch {
		case o.outcome == wrong:
			wrongs = append(wrongs, o.text)
		case o.kind == insert:
			told(o, k.entries[o.id])
		case o.kind == local, o.kind == across:
			_, there := k.transfers[o.id]
			told(o, there)
		}
	}
	due := make(map[int64]int64, len(before))
	var sum, sumBefore int64
	for id, b := range before {
		due[id] = b
		sumBefore += b
	}
	for _, pair := range k.transfers {
		due[pair[0]]--
		due[pair[1]]++
	}
	for id, b := range due {
		sum += k.balances[id]
		if k.balances[id] != b {
			half = append(half, fmt.Sprintf("account %d has %d, %d by its transfers", id, k.balances[id], b))
		}
	}
	if sum != sumBefore {
		half = append(half, fmt.Sprintf("accounts have %d, %d before", sum, sumBefore))
	}
	return wrongs, lost, half
}
