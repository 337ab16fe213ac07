package config

import "fmt"

// What users and tokens may do to the proxy itself, each with all before it.
const (
	rightNone    = "none"
	rightRead    = "read"
	rightOperate = "operate"
	rightAdmin   = "admin"
)

// tokenMin is the least length of a bearer token, in bytes.
const tokenMin = 16

func (c *Config) checkWebTokens(r *report) {
	first := map[string]int{}
	for k, t := range c.WebTokens {
		path := fmt.Sprintf("web_tokens[%d]", k)
		if other, dup := first[t.Name]; t.Name == "" {
			r.fault(path+".name", "is required")
		} else if dup {
			r.fault(path+".name", "token %q is also web_tokens[%d]", t.Name, other)
		} else {
			first[t.Name] = k
		}
		if t.TokenFile == "" && t.Token == "" {
			r.fault(path+".token", "is required, or token_file")
		} else if t.TokenFile == "" && len(t.Token) < tokenMin {
			r.fault(path+".token", "must have %d characters or more", tokenMin)
		}
		r.oneOf(path+".rights", t.Rights, rightRead, rightOperate, rightAdmin)
	}
}
