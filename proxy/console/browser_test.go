package console_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// browser is a headless Chromium with one page, spoken to in its DevTools protocol: JSON messages that end in a zero byte, over
// two pipes.
type browser struct {
	t       testing.TB
	cmd     *exec.Cmd
	in, out *os.File
	session string // of the page
	profile string // Chromium's folder

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	// trouble is what the page's console said: errors, refused scripts and styles.
	trouble []string
	done    chan struct{} // closed when Chromium says nothing more
}

// message is one of the protocol, either way.
type message struct {
	ID        int                       `json:"id,omitempty"`
	Method    string                    `json:"method,omitempty"`
	Params    json.RawMessage           `json:"params,omitempty"`
	Result    json.RawMessage           `json:"result,omitempty"`
	Error     *struct{ Message string } `json:"error,omitempty"`
	SessionID string                    `json:"sessionId,omitempty"`
}

// startBrowser starts Chromium and opens an empty page; it ends with the test.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no Chromium: make install-servers installs it")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: Chromium's other processes may still write there when the first has ended.
	profile, err := os.MkdirTemp("", "kingshard-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, profile: profile, in: in, out: out, waiting: make(map[int]chan message), done: make(chan struct{})}
	b.cmd = exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "about:blank")
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // as 3 and 4
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	go b.read()
	t.Cleanup(b.close)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) close() {
	b.in.Close() // at which Chromium ends
	select {
	case <-b.done:
	case <-time.After(5 * time.Second):
		_ = b.cmd.Process.Kill()
		<-b.done
	}
	_ = b.cmd.Wait()
	b.out.Close()
	for range 100 {
		if os.RemoveAll(b.profile) == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if b.t.Failed() {
		b.t.Logf("the page's console: %q", b.troubles())
	}
}

// read takes messages until Chromium ends.
func (b *browser) read() {
	defer close(b.done)
	var kept []byte
	chunk := make([]byte, 64<<10)
	for {
		n, err := b.out.Read(chunk)
		kept = append(kept, chunk[:n]...)
		for {
			one, rest, is := bytes.Cut(kept, []byte{0})
			if !is {
				break
			}
			b.take(one)
			kept = rest
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				b.note(err.Error())
			}
			return
		}
	}
}

func (b *browser) take(data []byte) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		b.note("unreadable: " + err.Error())
		return
	}
	switch m.Method {
	case "":
		b.mu.Lock()
		answer := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	case "Runtime.exceptionThrown":
		b.note(string(m.Params))
	case "Log.entryAdded":
		var log struct {
			Entry struct{ Level, Text, URL string }
		}
		if json.Unmarshal(m.Params, &log) == nil && log.Entry.Level == "error" {
			b.note(log.Entry.Text + " " + log.Entry.URL)
		}
	}
}

func (b *browser) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = append(b.trouble, text)
}

func (b *browser) troubles() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.trouble...)
}

// call sends a command and decodes its result into result, if that is not nil.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) try(method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		data = []byte("{}")
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, Method: method, Params: data, SessionID: b.session}
	b.waiting[m.ID] = answer
	b.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return err
	}
	select {
	case m = <-answer:
	case <-b.done:
		return errors.New("Chromium has ended")
	case <-time.After(time.Minute):
		return errors.New("no answer")
	}
	if m.Error != nil {
		return errors.New(m.Error.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// eval runs an expression in the page and gives its value as text; an exception fails the test.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if r.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(r.Result.Value)
}

// wait waits until an expression is true.
func (b *browser) wait(expression string) {
	b.t.Helper()
	mysqltest.WaitFor(b.t, expression, func() bool { return b.eval("Boolean("+expression+")") == "true" })
}

// open loads a page.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait("document.readyState === 'complete' && location.href.startsWith(" + quoted(url) + ")")
}

// click clicks with the mouse in the middle of the first element that a selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.wait("document.querySelector(" + quoted(selector) + ")?.checkVisibility()")
	var at struct{ X, Y float64 }
	text := b.eval("(() => { const e = document.querySelector(" + quoted(selector) + "); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();" +
		" return JSON.stringify({X: r.x + r.width / 2, Y: r.y + r.height / 2}) })()")
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		b.t.Fatal(err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// write types text into what has the focus.
func (b *browser) write(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// key presses a key: a character, Enter, Escape.
func (b *browser) key(name string) {
	b.t.Helper()
	down := map[string]any{"type": "keyDown", "key": name}
	switch {
	case len(name) == 1:
		down["text"] = name
	case name == "Enter":
		down["text"], down["windowsVirtualKeyCode"] = "\r", 13
	}
	b.call("Input.dispatchKeyEvent", down, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name}, nil)
}

// size makes the window so wide and high, and dark or light what the system prefers.
func (b *browser) size(width, height int, dark bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// screenshot gives the window as PNG.
func (b *browser) screenshot() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "optimizeForSpeed": false}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// quoted makes a literal of JavaScript.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return strings.ReplaceAll(string(data), "\u2028", `\u2028`)
}
