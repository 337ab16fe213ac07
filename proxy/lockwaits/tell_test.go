package lockwaits

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kingshard/backend"
)

// What one process tells of its changes another one reads; nodes that it does not have it leaves out, and what is not to be read.
func TestTelling(t *testing.T) {
	instances := map[string]*backend.Instance{}
	for _, name := range []string{"n1", "it's", "gone"} {
		i := new(backend.Instance)
		i.Node, i.Addr = name, "at "+name
		instances[name] = i
	}
	began := time.UnixMicro(1_700_000_000_123_456)
	waits := map[*Wait]bool{
		{ID: 7, Began: began, Instances: []*backend.Instance{instances["n1"], instances["it's"]}, Threads: []Thread{{"x", 11}, {"y", 12}}}:                  true,
		{ID: 8, Began: began.Add(time.Second), Instances: []*backend.Instance{instances["gone"], instances["n1"]}, Threads: []Thread{{"z", 13}, {"x", 14}}}: true,
	}
	text := tells + telling("ABC", waits) + tellsOver
	w := &Watch{process: "OTHER", primary: func(node string) *backend.Instance {
		if node == "gone" {
			return nil
		}
		return instances[node]
	}}
	read := func(texts ...string) (list []string) {
		told := map[string]bool{}
		for _, text := range texts {
			told[text] = true
		}
		for _, one := range w.others(told) {
			if len(one.Instances) != len(one.Threads) || one.GiveWay != nil {
				t.Errorf("%+v", one)
			}
			list = append(list, fmt.Sprintf("%s %d %v %v", one.process, one.ID, one.Began.Sub(began), one.Threads))
		}
		slices.Sort(list)
		return list
	}
	if got, want := fmt.Sprint(read(text, text+" ")), "[ABC 7 0s [{at n1 11} {at it's 12}] ABC 8 1s [{at n1 14}]]"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	if w.process = "ABC"; len(read(text)) > 0 {
		t.Error("a process takes its own changes for another's")
	}
	for _, bad := range []string{"", tells, tells + "X", tells + "X 7", tells + "X 7;", tells + "X 7;1;6e31", tells + "X 7;1;zz:5", tells + "X -1;1;6e31:5", tells + "X 7;1;6e31:99999999999", "DO SLEEP(1)"} {
		if got := read(bad + tellsOver); len(got) > 0 {
			t.Errorf("%q: read %s", bad, got)
		}
	}
}

// All processes choose the same one of a circle: the youngest, and of changes of one moment that whose process, or id, has the greater name.
func TestOneVictimForAll(t *testing.T) {
	began := time.UnixMicro(1000)
	for _, c := range []struct {
		a, b Wait
		want string // the name of the process, and the id
	}{
		{Wait{ID: 1, Began: began, process: "A"}, Wait{ID: 2, Began: began.Add(time.Microsecond), process: "B"}, "B2"},
		{Wait{ID: 1, Began: began.Add(time.Microsecond), process: "A"}, Wait{ID: 2, Began: began, process: "B"}, "A1"},
		{Wait{ID: 9, Began: began, process: "A"}, Wait{ID: 2, Began: began, process: "B"}, "B2"},
		{Wait{ID: 9, Began: began, process: "A"}, Wait{ID: 2, Began: began, process: "A"}, "A9"},
	} {
		threads := map[*Wait][]Thread{&c.a: {{"a", 1}, {"b", 1}}, &c.b: {{"a", 2}, {"b", 2}}}
		edges := map[edge]bool{{Thread{"a", 1}, Thread{"a", 2}}: true, {Thread{"b", 2}, Thread{"b", 1}}: true}
		list := victims(edges, threads)
		if len(list) != 1 || list[0].process+fmt.Sprint(list[0].ID) != c.want {
			t.Errorf("%s: victims %+v", c.want, list)
		}
	}
}
