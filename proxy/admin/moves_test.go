package admin_test

import (
	"fmt"
	"strings"
	"testing"
)

// What places rows elsewhere is refused by name, whoever asks, and is taken with a reason, which is kept.
func TestReloadThatMovesRows(t *testing.T) {
	p := start(t, nil)
	root, ops := p.client("root"), p.client("ops")
	const field = "schema_list[root].shard[shop.orders].type"
	inForce := func() string {
		return rows(t, root, "SHOW KS RULES WHERE `table` = 'orders'")[0][3] + rows(t, root, "SHOW KS RULES WHERE `table` = 'orders'")[0][4]
	}
	before := inForce()
	p.write(strings.Replace(p.text, "type: hash, locations: [2, 2]", "type: crc32, locations: [2, 2]", 1))
	if got := fmt.Sprint(rows(t, root, "KS RELOAD CHECK")); got != "[["+field+" hash crc32 YES places rows elsewhere]]" {
		t.Error(got)
	}
	fails(t, root, "KS RELOAD", 9032, field+" places rows elsewhere", "the running configuration stays", "KS RELOAD FORCE 'reason'")
	fails(t, root, "KS UPGRADE", 9032, field+" places rows elsewhere")
	fails(t, root, "KS RELOAD FORCE", 9031, "reason")
	fails(t, root, "KS RELOAD FORCE ' '", 9031, "reason")
	if err := p.ReloadFile(); err == nil || !strings.Contains(err.Error(), field) {
		t.Errorf("by a signal: %v", err)
	}
	if status, answer := p.call("operator", "POST", "/api/v2/reload", `{}`); status == 200 || !strings.Contains(answer, field) {
		t.Errorf("%d %s", status, answer)
	}
	if got := inForce(); got != before {
		t.Errorf("after refusals: %s", got)
	}
	if got := rows(t, ops, "KS RELOAD FORCE 'the table is empty'"); len(got) != 1 || got[0][0] != field {
		t.Errorf("%q", got)
	}
	if got := inForce(); got == before {
		t.Errorf("after FORCE: %s", got)
	}
	for _, place := range []string{fmt.Sprint(rows(t, root, "SHOW KS EVENTS")), p.log.String()} {
		if !strings.Contains(place, "FORCE: the table is empty") {
			t.Errorf("the reason is not in %s", place)
		}
	}
	p.write(p.text)
	if status, answer := p.call("operator", "POST", "/api/v2/reload", `{"force":"back again"}`); status != 200 || !strings.Contains(answer, `"note":"places rows elsewhere"`) {
		t.Errorf("%d %s", status, answer)
	}
	if got := inForce(); got != before {
		t.Errorf("back again: %s", got)
	}
	// More dates, and a rule for another table, move nothing.
	p.write(strings.Replace(p.text, `"2024-2025"]}`, `"2024-2026"]}, {db: shop, table: more, key: id, nodes: [n1], type: hash}`, 1))
	if got := rows(t, root, "KS RELOAD"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	p.write(strings.Replace(p.text, `"2024-2025"]}`, `"2024-2026"]}, {db: shop, table: more, key: id, nodes: [n2], type: hash}`, 1))
	fails(t, root, "KS RELOAD", 9032, "schema_list[root].shard[shop.more].nodes places rows elsewhere")
}

// A pin that leaves its key where it is may come and go; one that does not is refused as any rule is that places rows elsewhere.
func TestReloadOfPins(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	const field = "schema_list[root].shard[shop.orders].pin"
	pins := func(pin string) string {
		return strings.Replace(p.text, "type: hash, locations: [2, 2]", "type: hash, locations: [2, 2], pin: "+pin, 1)
	}
	p.write(pins("{6: n2, 9: n1}")) // the remainders 2 and 1
	if got := fmt.Sprint(rows(t, root, "KS RELOAD")); !strings.Contains(got, field+" ") || !strings.Contains(got, "6: n2, 9: n1 YES") {
		t.Error(got)
	}
	if got := rows(t, root, "SHOW KS RULES WHERE detail = 'pinned keys 2'"); len(got) != 1 || got[0][2] != "orders" {
		t.Errorf("%q", got)
	}
	p.write(pins("{6: n1, 9: n1}"))
	fails(t, root, "KS RELOAD", 9032, field+" places rows elsewhere", "KS RELOAD FORCE 'reason'")
	if got := rows(t, root, "KS RELOAD FORCE 'the rows of 6 are on n1'"); len(got) != 1 || got[0][0] != field || got[0][1] != "6: n2, 9: n1" || got[0][2] != "6: n1, 9: n1" {
		t.Errorf("%q", got)
	}
	p.write(pins("{9: n1}"))
	fails(t, root, "KS RELOAD", 9032, field+" places rows elsewhere")
	p.write(pins("{6: n1}"))
	if got := rows(t, root, "KS RELOAD"); len(got) != 1 || got[0][0] != field {
		t.Errorf("%q", got)
	}
}
