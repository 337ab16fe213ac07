package console_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The pictures of docs/console are made by: go test ./proxy/console -run TestSizes -screenshots ../../docs/console
var screenshots = flag.String("screenshots", "", "folder that TestSizes writes pictures of the page to")

// kept tells whether docs/console has a picture.
func kept(name string) bool {
	return strings.HasSuffix(name, "-wide-light") || name == "overview-wide-dark" || name == "statements-wide-dark" ||
		strings.HasSuffix(name, "-narrow-light") && !strings.HasPrefix(name, "profile") || strings.HasPrefix(name, "overview") || strings.HasPrefix(name, "sessions")
}

// Nothing is wider than the window, on a desk or on a phone, light or dark; and the colours follow the system and the switch.
func TestSizes(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	p.load()
	pinned := p.client("root")
	for _, text := range []string{"USE shop", "SELECT GET_LOCK('a', 1)", "BEGIN", "SELECT id FROM long_name_of_a_table WHERE note = 'x'"} {
		if _, err := pinned.Query(text); err != nil {
			t.Fatal(err)
		}
	}
	shot := func(name string) {
		if *screenshots == "" || !kept(name) {
			return
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), b.screenshot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fits := func(name string) {
		t.Helper()
		if wide := b.eval("(() => { const w = innerWidth; if (document.scrollingElement.scrollWidth <= w) return ''; const e = [...document.querySelectorAll('body *')]" +
			".filter((e) => e.getBoundingClientRect().right > w + 1).map((e) => e.tagName + '.' + e.className); return w + ': ' + e.slice(0, 8).join(' ') })()"); wide != "" {
			t.Errorf("%s: wider than the window of %s", name, wide)
		}
	}
	b.size(390, 844, false)
	b.open(p.web + "/")
	b.wait("!document.querySelector('#login').hidden")
	fits("login")
	shot("login-narrow-light")
	b.fillLogin("web", "websesame", "")
	b.wait("!document.querySelector('#app').hidden")
	if *screenshots != "" { // a chart needs some time to have something to show
		mysqltest.WaitFor(t, "samples", func() bool {
			return b.eval("fetch('/api/v2/history').then((r) => r.json()).then((h) => h.rows.length >= 25)") == "true"
		})
	}
	for _, size := range []struct {
		name          string
		width, height int
	}{{"wide", 1280, 800}, {"narrow", 390, 844}} {
		for _, scheme := range []string{"light", "dark"} {
			b.size(size.width, size.height, scheme == "dark")
			for k, title := range []string{"Overview", "Topology", "Sessions", "Statements", "Tables", "Explain", "Configuration", "Events", "Profile", "Transactions"} {
				b.view(strconv.Itoa((k+1)%10), title)
				b.wait("document.querySelector('#view').childElementCount > 0")
				switch title {
				case "Overview":
					b.wait("document.querySelector('#tile-uptime').textContent !== '–'")
				case "Statements":
					b.wait("document.querySelectorAll('#view tbody tr').length > 3")
					b.click("#view tbody tr:nth-child(2)")
					b.wait("document.querySelector('#view .detail-row')")
				case "Sessions":
					b.wait("document.querySelectorAll('#view tbody tr').length >= 3")
				case "Tables":
					b.wait("document.querySelectorAll('#view tbody tr').length > 1")
					b.click("#view tbody tr")
				case "Explain":
					b.wait("document.querySelector('#view select').value === 'root'")
					b.eval("document.querySelector('#view select').value = 'app'")
					b.write("SELECT o.id, v.note FROM shop.orders o JOIN shop.visits v ON v.id = o.id WHERE o.note = 'x' ORDER BY o.id LIMIT 10")
					b.click("#view form button")
					b.wait("document.querySelector('#view tbody tr') && document.querySelectorAll('.fragments .fragment').length === 5")
				case "Transactions":
					b.inDoubt()
					b.wait("document.querySelectorAll('#view tbody tr').length === 2")
				case "Profile":
					b.size(size.width, 480, scheme == "dark") // flames make large pictures
					b.eval("document.querySelector('#view input').value = 1")
					b.click("#take")
					b.wait("document.querySelector('.flame rect')")
				}
				b.eval("scrollTo(0, 0)")
				name := strings.ToLower(title) + "-" + size.name + "-" + scheme
				fits(name)
				shot(name)
				b.key("Escape")
			}
		}
	}
	background := func() string { return b.eval("getComputedStyle(document.body).backgroundColor") }
	b.size(1280, 800, true)
	dark := background()
	b.size(1280, 800, false)
	if light := background(); light == dark {
		t.Errorf("light and dark are both %s", light)
	}
	b.key("t") // light
	b.key("t") // dark
	if background() != dark {
		t.Errorf("the switch gives %s, want %s", background(), dark)
	}
}
