package sqltext

import "testing"

// A word is mentioned wherever it stands; a text has it only outside of strings, names and comments, and whole.
func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text            string
		mentions, hasIt bool
	}{
		{"SELECT 1", true, true}, {"(sElEcT 1)", true, true}, {"'select'", true, false}, {"`select`", true, false}, {"selects", true, false},
		{"/* select */ 1", true, false}, {"selec", false, false}, {"", false, false},
	} {
		if got := Mentions(c.text, "select"); got != c.mentions {
			t.Errorf("Mentions(%q) is %v", c.text, got)
		}
		if got := HasWord(c.text, Mode{}, "select", "table"); got != c.hasIt {
			t.Errorf("HasWord(%q) is %v", c.text, got)
		}
	}
}
