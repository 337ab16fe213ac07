package console_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// enterPage opens the page and logs in as a person does.
func (b *browser) enterPage(p *testProxy, user, password, token string) {
	b.t.Helper()
	b.open(p.web + "/")
	b.wait("!document.querySelector('#login').hidden")
	b.fillLogin(user, password, token)
}

func (b *browser) fillLogin(user, password, token string) {
	b.t.Helper()
	for name, text := range map[string]string{"user": user, "password": password, "token": token} {
		if text != "" {
			b.eval("document.querySelector('#login [name=" + name + "]').focus()")
			b.write(text)
		}
	}
	b.click("#login button")
}

// view goes to a view by its key. The one before must show no secret and no value of a client's statement.
func (b *browser) view(key, title string) {
	b.t.Helper()
	if b.eval("document.body.textContent.includes('sesame')") == "true" {
		b.t.Errorf("a secret, or a value, before %s: %s", title, b.eval("document.body.textContent"))
	}
	b.key(key)
	b.wait("document.querySelector('#title').textContent === " + quoted(title))
}

// number reads what an element shows; "1.2k" is 1200.
func (b *browser) number(selector string) float64 {
	b.t.Helper()
	text := b.eval("document.querySelector(" + quoted(selector) + ").textContent")
	scale := 1.0
	if rest, is := strings.CutSuffix(text, "k"); is {
		text, scale = rest, 1000
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	return n * scale
}

// One visit: wrong password, login, numbers that move, views by their keys, a session killed, a reload, markup shown as text.
func TestPage(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	b.size(1280, 800, false)
	b.enterPage(p, "web", "wrong", "")
	b.wait("document.querySelector('#login .error').textContent.includes('wrong user')")
	if b.eval("document.querySelector('#app').hidden") != "true" {
		t.Error("a wrong password shows the console")
	}
	b.fillLogin("", "websesame", "") // the user's name is still there
	b.wait("!document.querySelector('#app').hidden")
	if text := b.eval("document.cookie + localStorage.length + sessionStorage.length + document.documentElement.outerHTML"); strings.Contains(text, "kingshard=") || strings.Contains(text, "sesame") {
		t.Error("the page's scripts can read the cookie or the password")
	}

	// Numbers move under load.
	b.wait("document.querySelector('#tile-commands').textContent !== '–'")
	stop := p.load()
	mysqltest.WaitFor(t, "the rate of commands to rise", func() bool { return b.number("#tile-commands") > 50 })
	mysqltest.WaitFor(t, "errors to be seen", func() bool { return b.number("#tile-errors") > 5 })
	b.wait("document.querySelectorAll('.chart svg polyline').length >= 3")

	// Every view by its key; what the clients sent is text.
	b.view("2", "Topology")
	b.wait("document.querySelectorAll('.instance').length === 3")
	b.view("4", "Statements")
	b.wait("[...document.querySelectorAll('#view code')].some((c) => c.textContent.includes('shop.`<img src=x onerror=alert(1)>`'))")
	if n := b.eval("document.querySelectorAll('#view img').length"); n != "0" {
		t.Errorf("a table's name became %s images", n)
	}
	b.click("#view tbody tr")
	b.wait("document.querySelector('#view .detail-row')?.textContent.includes('Where the time went')")
	b.view("5", "Tables")
	b.wait("document.querySelector('#view').textContent.includes('n1: 4, n2: 4')")
	b.view("6", "Explain")
	b.wait("document.querySelector('#view select').value === 'root' && document.activeElement.name === 'sql'")
	b.eval("document.querySelector('#view select').value = 'app'")
	b.write("SELECT '<script>document.title = \"owned\"</script><img src=x onerror=alert(1)>' FROM shop.orders WHERE id = 3")
	b.click("#view form button")
	b.wait("[...document.querySelectorAll('#view tbody code')].some((c) => c.textContent.includes('<script>document.title') && c.textContent.includes('orders_0003'))")
	if n := b.eval("document.querySelectorAll('#view script, #view img').length"); n != "0" || strings.Contains(b.eval("document.title"), "owned") {
		t.Errorf("a statement became markup: %s elements", n)
	}
	b.key("Escape")
	b.view("8", "Events")
	b.wait("document.querySelector('#view').textContent.includes('instance up')")

	// A session is killed.
	stop()
	victim := p.client("root")
	if _, err := victim.Query("SELECT GET_LOCK('<b>lock</b>', 1)"); err != nil {
		t.Fatal(err)
	}
	b.view("3", "Sessions")
	id := fmt.Sprint(victim.Greeting.ConnectionID)
	b.wait("[...document.querySelectorAll('#view tbody tr')].some((r) => r.textContent.includes('get_lock'))")
	b.key("/")
	b.write("root")
	b.wait("document.querySelectorAll('#view tbody tr').length === 1")
	b.click("[data-kill='" + id + "']")
	b.wait("document.querySelector('#ask').open")
	b.click("#ask [value=no]")
	if _, err := victim.Query("SELECT 1"); err != nil {
		t.Errorf("killed though the question was answered with no: %v", err)
	}
	b.click("[data-kill='" + id + "']")
	b.click("#ask [value=yes]")
	mysqltest.WaitFor(t, "the session to end", func() bool { _, err := victim.Query("SELECT 1"); return err != nil })
	b.wait("document.querySelectorAll('#view tbody tr').length === 0")

	// A table's ids are at the table, and so are the keys that most of its statements have.
	ids := p.client("root")
	writer := p.client("app")
	for range 2000 { // of which one of 64 is looked at
		if r, err := writer.Query("INSERT INTO shop.orders (id, total) VALUES (31, 1)"); err != nil || r.Err != nil {
			t.Fatalf("%v %v", r, err)
		}
	}
	if r, err := ids.Query("KS SEQUENCE shop.orders SET 5"); err != nil || r.Err != nil {
		t.Fatalf("%v %v", r, err)
	}
	ids.Close()
	b.view("5", "Tables")
	b.wait("document.querySelector('#view').textContent.includes('n1: 4, n2: 4')")
	b.eval("[...document.querySelectorAll('#view tbody tr')].find((r) => r.textContent.includes('shop.orders')).click()")
	b.wait("document.querySelector('#view .detail-row')?.textContent.includes('of the next block')")
	b.wait("/Keys with the most statements.*31[0-9. ]*% · n2/.test(document.querySelector('#view .detail-row').textContent)")

	// The file changes: the check shows it, the reload brings it into force.
	b.key("Escape")
	b.key("Escape")
	p.write(strings.Replace(p.text, "name: n2, max_conns_limit: 8", "name: n2, max_conns_limit: 17", 1))
	b.view("7", "Configuration")
	b.click("#check")
	b.wait("document.querySelector('#view').textContent.includes('A reload would change 1')")
	if got := p.Config().Nodes[1].MaxConnsLimit; got != 8 {
		t.Errorf("a check set max_conns_limit to %d", got)
	}
	b.click("#reload")
	b.click("#ask [value=yes]")
	mysqltest.WaitFor(t, "the reload", func() bool { return p.Config().Nodes[1].MaxConnsLimit == 17 })
	p.write("addr: [")
	b.click("#check")
	b.wait("document.querySelector('#view .error')?.textContent.includes('reload refused')")

	// A profile is a tree of functions.
	b.view("9", "Profile")
	b.eval("document.querySelector('#view input').value = 1")
	b.click("#take")
	b.wait("document.querySelector('#view [role=status]').textContent.includes('of one core')")
	b.wait("document.querySelectorAll('.flame rect').length >= 1")

	// One of what went by is offered where it is kept.
	if hidden := b.eval("document.querySelector('#past').hidden"); hidden != "true" {
		t.Errorf("hidden: %s", hidden)
	}
	by := querylog.By{User: "test"}
	if err := p.Edit(by, false, func(cfg *config.Config) error { cfg.ContinuousProfile = config.Duration(time.Minute); return nil }); err != nil {
		t.Fatal(err)
	}
	b.view("1", "Overview")
	b.view("9", "Profile")
	b.wait("!document.querySelector('#past').hidden")
	b.wait("(document.querySelector('#past').click(), document.querySelector('#view [role=status]').textContent.includes('of one core'))")
	b.wait("document.querySelectorAll('.flame rect').length >= 1")

	b.click("#logout")
	b.wait("!document.querySelector('#login').hidden && document.querySelector('#view').childElementCount === 0")
	for _, trouble := range b.troubles() {
		if !strings.Contains(trouble, "status of 401") && !strings.Contains(trouble, "status of 409") {
			t.Errorf("the page's console: %s", trouble)
		}
	}
}

// Who may only look sees no button that would change something, and is refused all the same.
func TestPageOfAReader(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	victim := p.client("app")
	b.enterPage(p, "", "", "readreadreadreadread")
	b.wait("!document.querySelector('#app').hidden")
	b.view("3", "Sessions")
	b.wait("document.querySelectorAll('#view tbody tr').length >= 1")
	if n := b.eval("document.querySelectorAll('#view [data-kill]').length"); n != "0" {
		t.Errorf("%s buttons to kill", n)
	}
	b.view("7", "Configuration")
	b.wait("document.querySelector('#reload').disabled")
	b.view("9", "Profile")
	b.wait("document.querySelector('#view').textContent.includes('needs the rights admin')")
	kill := "fetch('/api/v2/sessions/" + fmt.Sprint(victim.Greeting.ConnectionID) + "/kill', {method: 'POST'%s}).then((r) => r.status)"
	if status := b.eval(fmt.Sprintf(kill, "")); status != "403" {
		t.Errorf("without the token: %s", status)
	}
	token := b.eval("fetch('/console/session').then((r) => r.json()).then((s) => s.csrf)")
	if status := b.eval(fmt.Sprintf(kill, ", headers: {'X-KS-CSRF': "+quoted(token)+"}")); status != "403" {
		t.Errorf("without the rights: %s", status)
	}
	if _, err := victim.Query("SELECT 1"); err != nil {
		t.Errorf("killed: %v", err)
	}
	// What the policy forbids does not run.
	b.eval("(() => { const s = document.createElement('script'); try { s.textContent = 'document.title = \"owned\"' } catch {} document.body.append(s) })()")
	if title := b.eval("document.title"); strings.Contains(title, "owned") {
		t.Error("a script in the page runs")
	}
}
