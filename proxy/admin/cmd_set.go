package admin

import (
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var setCommand = command{
	verb: "set", usage: "KS SET name = value", rights: account.Admin,
	about: "Gives a setting another value, until the next reload or start; SHOW KS CONFIG WHERE settable = 'YES' lists them",
	run: func(c *call) (*answer, error) {
		name, value, err := c.r.assignment()
		if err != nil {
			return nil, err
		}
		return changesOf(c.a.set(c.who, name, value))
	},
}

// assignment reads the rest of the statement, name = value. The name may be a path such as nodes[node1].max_conns_limit, and the
// value what is no token of SQL, such as 64M or 10.0.0.0/8; both may be quoted.
func (r *reader) assignment() (name, value string, err error) {
	name, value, found := strings.Cut(r.Rest(), "=")
	if !found {
		return "", "", r.Expected("name = value")
	}
	name, okName := r.plain(name)
	value, okValue := r.plain(value)
	if !okName || name == "" || !okValue {
		return "", "", r.Expected("name = value, with quotes around a value that has blanks or is empty")
	}
	return name, value, nil
}

// plain takes the quotes off a text, if it has any; one without must have no blanks.
func (r *reader) plain(text string) (plain string, ok bool) {
	text = strings.TrimSpace(text)
	if text != "" && strings.IndexByte("'\"`", text[0]) >= 0 {
		l := sqltext.NewLexer(text, r.Mode)
		if t := l.Next(); t.End != len(text) {
			return "", false
		}
		return sqltext.Unquote(text, r.Mode)
	}
	return text, text != "" && !strings.ContainsAny(text, " \t\r\n'\"`;")
}

// set gives a setting another value.
func (a *Admin) set(w change.Who, name, value string) (changes []config.Change, err error) {
	if strings.EqualFold(name, profileLabels) {
		return nil, a.setProfileLabels(w, value)
	}
	return a.Configuration.Set(w, name, value)
}

// profileLabels is a setting that no configuration has: whoever profiles switches it on, and off again.
const profileLabels = "profile_labels"

// setProfileLabels switches labels of goroutines on or off.
func (a *Admin) setProfileLabels(w change.Who, value string) error {
	return a.Trail.Act(w, account.Admin, "set", profileLabels+" = "+value, func() error {
		word := strings.ToLower(value)
		on := slices.Contains([]string{"on", "true", "yes"}, word)
		if !on && !slices.Contains([]string{"off", "false", "no"}, word) {
			return change.Failed("%s is on or off, not %.40q", profileLabels, value)
		}
		a.shared.Labels.Switch(on)
		return nil
	})
}
