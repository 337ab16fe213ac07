package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	// tracesPath is where a collector takes traces unless the endpoint says otherwise. OTLP specification: "OTLP/HTTP Request".
	tracesPath = "/v1/traces"
	// parentsMax is the ceiling of tracing.max_parents.
	parentsMax = 1_000_000
	// headersMax and headerMax bound the headers of a request in number and, each, in bytes.
	headersMax, headerMax = 32, 4096
)

// URL gives where traces are sent to; nil if they are not.
func (t *Tracing) URL() (*url.URL, error) {
	if t.Endpoint == "" {
		return nil, nil
	}
	text := t.Endpoint
	if !strings.Contains(text, "://") {
		if _, _, err := net.SplitHostPort(text); err != nil {
			return nil, errors.New("must be host:port, or a URL such as https://collector:4318")
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("must be host:port, or a URL such as https://collector:4318")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("must not hold a user, a password, a query or a fragment: what is secret goes into headers")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New("must have a port of 1 to 65535")
		}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	return u, nil
}

func (c *Config) checkTracing(r *report) {
	t := &c.Tracing
	if _, err := t.URL(); err != nil {
		r.fault("tracing.endpoint", "%v", err)
	}
	if len(t.Headers) > headersMax {
		r.fault("tracing.headers", "must be at most %d", headersMax)
	}
	for _, name := range sortedKeys(t.Headers) {
		if err := checkHeader(name, t.Headers[name]); err != nil {
			r.fault(join("tracing.headers", name), "%v", err)
		}
	}
	r.between("tracing.max_parents", t.MaxParents, 0, parentsMax)
}

// checkHeader tells what is wrong with a header of requests; never its value. RFC 9110: "Fields".
func checkHeader(name, value string) error {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	}) {
		return errors.New("is no name of an HTTP header")
	}
	switch strings.ToLower(name) {
	case "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host":
		return errors.New("is a header that the proxy sets itself")
	}
	switch {
	case value == "":
		return errors.New("is empty")
	case len(value) > headerMax:
		return fmt.Errorf("must be at most %d bytes", headerMax)
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return errors.New("must not hold control characters")
	}
	return nil
}
