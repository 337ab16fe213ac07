package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// explained has the view Explain show the plan of a statement of the user app.
func (b *browser) explained(sql string) {
	b.t.Helper()
	b.key("Escape")
	b.view("1", "Overview")
	b.view("6", "Explain") // anew, with nothing in it
	b.wait("document.querySelector('#view select').value === 'root'")
	b.eval("document.querySelector('#view select').value = 'app'")
	b.write(sql)
	b.click("#view form button")
	b.wait("document.querySelector('#view tbody tr')")
}

// The plan has a picture: a fragment for each step, boxes that hold their texts beside each other, and nothing wider than the window.
func TestPictureOfAPlan(t *testing.T) {
	p := start(t, nil)
	b := startBrowser(t)
	b.enterPage(p, "web", "websesame", "")
	b.wait("!document.querySelector('#app').hidden")
	for _, size := range []struct {
		name          string
		width, height int
	}{{"wide", 1280, 800}, {"narrow", 390, 844}} {
		for _, dark := range []bool{false, true} {
			b.size(size.width, size.height, dark)
			for k, test := range []struct {
				sql             string
				steps, stations int
			}{
				{"SELECT o.id, v.note FROM shop.orders o JOIN shop.visits v ON v.id = o.id WHERE o.note = 'x'", 5, 2},
				{"SELECT id, total FROM shop.orders ORDER BY id LIMIT 3", 2, 1},
				{"UPDATE shop.orders SET total = 1 WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8)", 8, 1},
				{"SELECT * FROM plain", 1, 1},
			} {
				name := fmt.Sprintf("%s, dark %v: %s", size.name, dark, test.sql)
				b.explained(test.sql)
				count := func(selector string) string { return b.eval("document.querySelectorAll('" + selector + "').length") }
				if got := count(".fragments .fragment") + " " + count("#view tbody tr") + " " + count(".fragments .station"); got != fmt.Sprint(test.steps, " ", test.steps, " ", test.stations) {
					t.Errorf("%s: fragments, steps and stations: %s", name, got)
				}
				if wide := b.eval("document.scrollingElement.scrollWidth > innerWidth"); wide != "false" {
					t.Errorf("%s: wider than the window", name)
				}
				if out := b.eval(`(() => { const out = [];
					const boxes = [...document.querySelectorAll('.fragments g')].map((g) => [g, g.querySelector('rect').getBoundingClientRect()]);
					const whole = document.querySelector('.fragments svg').getBoundingClientRect();
					for (const [g, r] of boxes) {
						for (const t of g.querySelectorAll('text')) { const x = t.getBoundingClientRect(); if (x.right > r.right || x.bottom > r.bottom || x.left < r.left) out.push(t.textContent); }
						if (r.right > whole.right + 1 || r.bottom > whole.bottom + 1) out.push('beyond: ' + g.textContent);
						for (const [h, s] of boxes) if (h !== g && r.left < s.right && s.left < r.right && r.top < s.bottom && s.top < r.bottom) out.push('over another: ' + g.textContent);
					}
					return out.join(', ') })()`); out != "" {
					t.Errorf("%s: out of its box: %s", name, out)
				}
				if *screenshots != "" && k < 2 {
					b.click(".fragments .fragment")
					b.eval("document.querySelector('.fragments').scrollIntoView()")
					if err := os.WriteFile(filepath.Join(*screenshots, fmt.Sprintf("picture-%d-%s-%v.png", k, size.name, dark)), b.screenshot(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}

	// A click shows what a server gets, another takes it away; a key does as well.
	b.explained("SELECT o.id, v.note FROM shop.orders o JOIN shop.visits v ON v.id = o.id WHERE o.note = '<b>x</b>'")
	shown := "document.querySelector('.fragments code')?.textContent || ''"
	b.click(".fragments .fragment")
	b.wait("(" + shown + ").includes(\"(o.note = '<b>x</b>')\") && document.querySelectorAll('.fragments .picked').length === 1")
	b.click(".fragments .fragment")
	b.wait("(" + shown + ") === ''")
	b.eval("[...document.querySelectorAll('.fragments .fragment')].at(-1).focus()")
	b.key("Enter")
	b.wait("(" + shown + ").includes('JOIN shop.visits')")
	if n := b.eval("document.querySelectorAll('#view b b, .fragments code b').length"); n != "0" {
		t.Errorf("a statement became markup: %s elements", n)
	}

	// What cannot be explained has none.
	b.explained("SELECT * FROM shop.orders WHERE id = 3")
	b.eval("document.querySelector('#view textarea').select()")
	b.write("FROB shop.orders")
	b.click("#view form button")
	b.wait("document.querySelector('#view .error').textContent !== '' && document.querySelector('.fragments').hidden")
	for _, trouble := range b.troubles() {
		if !strings.Contains(trouble, "status of 400") && !strings.Contains(trouble, "status of 401") {
			t.Errorf("the page's console: %s", trouble)
		}
	}
}
