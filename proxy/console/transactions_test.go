package console_test

import (
	"strings"
	"testing"
)

// inDoubt has the page hear of a branch in doubt and of an incident, and notes what it asks to be done.
func (b *browser) inDoubt() {
	b.t.Helper()
	b.eval(`(() => {
  if (!window.asked) {
    window.asked = [];
    const real = window.fetch;
    const answer = (data) => Promise.resolve(new Response(JSON.stringify(data)));
    window.fetch = (path, options) => {
      if (path === "/api/v2/transactions") return answer({rows: [{gtrid: "ks1" + "0123456789abcdef".repeat(2) + "00", state: "prepared", nodes: "n2", decides: "n1", proxy: "0a0b0c0d", own: false, began: "2026-01-02 03:04:05.000",
        seconds: 61.5, waits_for: "the decision of n1 <img src=x>", connections: null, xid: ""}]});
      if (path === "/api/v2/incidents") return answer({rows: [{id: 3, at: "2026-01-02 03:04:05.000", kind: "lost", gtrid: "ks1", node: "n2", what: "the server has lost its branch", detail: null}]});
      if (/\/(resolve|forget)$/.test(path)) { window.asked.push(path + " " + options.body); return answer({}); }
      return real(path, options);
    };
  }
})()`)
	b.view("1", "Overview")
	b.view("0", "Transactions")
}

// Branches in doubt are ended, and incidents closed, by who may operate; others see them.
func TestTransactions(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	b.size(1280, 800, false)
	b.enterPage(p, "web", "websesame", "")
	b.wait("!document.querySelector('#app').hidden")
	b.view("0", "Transactions")
	b.wait("document.querySelector('#view').textContent.includes('none is in doubt') && document.querySelector('#view').textContent.includes('No incident is open')")
	b.inDoubt()
	b.wait("document.querySelector('#view').textContent.includes('the decision of n1 <img src=x>') && document.querySelector('#view').textContent.includes('lost its branch')")
	for _, button := range []string{"[data-as=commit]", "[data-as=rollback]", "[data-close='3']"} {
		b.click("#view " + button)
		b.wait("document.querySelector('#ask').open")
		b.click("#ask [value=yes]")
		b.wait("!document.querySelector('#ask').open")
	}
	b.wait("window.asked.length === 3")
	got := b.eval("window.asked.join(' ')")
	for _, want := range []string{`0/resolve {\"as\":\"commit\"}`, `0/resolve {\"as\":\"rollback\"}`, `/api/v2/incidents/3/forget {}`} {
		if !strings.Contains(got, want) && !strings.Contains(got, strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%s: no %s", got, want)
		}
	}
}
