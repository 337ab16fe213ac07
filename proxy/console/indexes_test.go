package console_test

import "testing"

// A table's row opens on how far its keys over shards are.
func TestIndexes(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	b.size(1280, 800, false)
	b.enterPage(p, "web", "websesame", "")
	b.wait("!document.querySelector('#app').hidden")
	b.eval(`(() => {
  const real = window.fetch;
  const row = (name, unique, state, percent, rows, faults) => ({db: "shop", table: "orders", name, columns: name, unique, lookup: "ks_orders_" + name, state, percent, rows, faults});
  window.fetch = (path, options) => path !== "/api/v2/indexes" ? real(path, options) : Promise.resolve(new Response(JSON.stringify({rows: [
    row("number", 1, "built", null, 12, 3), row("email", 1, "built", null, 12, 0), row("city", 0, "building", 41, 1234, null), row("<b>", null, "unused", null, 0, null), {...row("other", 0, "missing", null, 0, null), table: "visits"}]})));
})()`)
	b.view("5", "Tables")
	b.wait("[...document.querySelectorAll('#view tbody tr')].some((r) => r.textContent.includes('shop.orders'))")
	b.eval("[...document.querySelectorAll('#view tbody tr')].find((r) => r.textContent.includes('shop.orders')).click()")
	for _, want := range []string{"numberunique · built · 3 faults", "emailunique · built · verified", "citybuilding · 41 %, 1234 rows", "<b>unused"} {
		b.wait("document.querySelector('#view .detail-row')?.textContent.includes('" + want + "')")
	}
	b.wait("!document.querySelector('#view .detail-row').textContent.includes('othermissing')")
}
