package session

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// TestRecognized goes through commands of a session, on a goroutine and in a loop: what classify gives is what the lexer gives, and the
// normal form is that of the command's own text or none.
func TestRecognized(t *testing.T) {
	for name, sp := range map[string]*scratch{"goroutine": nil, "loop": new(scratch)} {
		t.Run(name, func(t *testing.T) {
			s := assemble()
			s.client.scratch = sp
			known := 0
			for k := range 200 {
				text := []string{
					"SELECT c FROM t WHERE id=1", "SELECT c FROM t WHERE id=" + strings.Repeat("7", k%9+1), "begin", "SELECT 1; SELECT 2",
					"UPDATE t SET c='a' WHERE id=5", "UPDATE t SET c='" + strings.Repeat("x", k) + "' WHERE id=5",
				}[k%6]
				m := s.client.mode()
				if got, want := s.client.classify(text), sqltext.Classify(text, m); got != want {
					t.Fatalf("%q is %+v, want %+v", text, got, want)
				}
				want := string(sqltext.AppendNormal(nil, text, m, 1024))
				switch got, _ := s.client.task().recognized.of(strings.Clone(text)); got {
				case want:
					known++
				case "":
				default:
					t.Fatalf("the normal form of %q is %q, want %q", text, got, want)
				}
				if got, _ := s.client.task().recognized.of(text + " "); got != "" {
					t.Fatalf("another text is known as %q", got)
				}
				s.client.releaseTask()
				if got, _ := s.client.task().recognized.of(text); got != "" {
					t.Fatalf("after the command its text is known as %q", got)
				}
			}
			if known < 50 {
				t.Errorf("the normal form of %d of 200 texts was known", known)
			}
		})
	}
}

// TestRecognizedHeedsTheMode: a text is another one in another sql_mode.
func TestRecognizedHeedsTheMode(t *testing.T) {
	s := assemble()
	s.client.scratch = new(scratch)
	text := `SELECT c FROM t WHERE id='a'`
	for range 20 {
		s.client.classify(text)
	}
	if s.client.task().recognized.text == "" {
		t.Fatal("a text that comes again is not recognized")
	}
	if s.client.task().recognized.templateOf(text, s.client.mode()) == nil || s.client.task().recognized.templateOf(text+" ", s.client.mode()) != nil {
		t.Error("the text's template is not known, or is another text's")
	}
	s.client.state.Mode.NoBackslashEscapes = true
	if s.client.task().recognized.templateOf(text, s.client.mode()) != nil {
		t.Error("a text has a template in a mode that came later")
	}
	if s.client.classify(text); s.client.task().recognized.text != "" {
		t.Error("a text is recognized in a mode in which it was not read")
	}
}

// TestRecognizedExecution: of a prepared statement the normal form is kept if it is short, once for all.
func TestRecognizedExecution(t *testing.T) {
	s := new(Session)
	for _, text := range []string{"SELECT c FROM t WHERE id=? AND k=5", "SELECT " + strings.Repeat("a,", normalMax) + "b FROM t", ""} {
		st := &stmt{text: text, normal: normalOf(text, s.client.mode())}
		if again := normalOf(strings.Clone(text), s.client.mode()); again != st.normal {
			t.Errorf("%.40q has two normal forms", text)
		}
		want := ""
		if len(text) < normalMax {
			want = string(sqltext.AppendNormal(nil, text, s.client.mode(), 2*normalMax))
		}
		s.client.recognize(st)
		if got, _ := s.client.task().recognized.of(text); got != want {
			t.Errorf("%.40q: %.40q, want %.40q", text, got, want)
		}
		s.client.recognize(&stmt{text: text})
		if got, _ := s.client.task().recognized.of(text); got != "" {
			t.Errorf("%.40q without a normal form: %.40q", text, got)
		}
		s.client.releaseTask()
	}
}

func TestSpareTasks(t *testing.T) {
	var sp scratch
	a, b := sp.take(), sp.take()
	sp.put(a)
	sp.put(b)
	if sp.take() != b || sp.take() != a {
		t.Error("the tasks used last are not the next")
	}
	sp.put(a)
	if !sp.trim() || sp.trim() || sp.tasks.Take() != nil {
		t.Error("a task is not given away after a time in which it was not used, or before")
	}
}

// TestReleaseTask: nothing of a statement is in the task that the next session gets, whatever of it was in use.
func TestReleaseTask(t *testing.T) {
	for _, looked := range []bool{false, true} {
		s := assemble()
		s.client.scratch = new(scratch)
		made := s.client.task()
		made.query.text, made.x.attempt, made.recognized = "SELECT 1", 3, recognized{text: "SELECT 1", normal: "SELECT ?"}
		if looked {
			s.client.lookup().names = []mysql.TableName{{Table: "t"}}
		}
		s.client.releaseTask()
		if s.client.tasked != nil || s.client.scratch.take() != made {
			t.Fatal("the task did not go back")
		}
		if made.query.text != "" || made.x.attempt != 0 || made.recognized != (recognized{}) || made.looked || looked && made.found.names[0].Table != "" {
			t.Errorf("after a statement, its lookup used: %v, the task has %+v", looked, made)
		}
	}
}
