package config

import "testing"

// An endpoint is short or whole; what would show a secret, or is none, is refused.
func TestTracingURL(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                 "",
		"collector:4318":                   "http://collector:4318/v1/traces",
		"[::1]:4318":                       "http://[::1]:4318/v1/traces",
		"https://collector":                "https://collector/v1/traces",
		"https://collector/":               "https://collector/v1/traces",
		"http://collector:80/otlp/traces":  "http://collector:80/otlp/traces",
		"collector":                        "-",
		"http://":                          "-",
		"ftp://collector":                  "-",
		"collector:99999":                  "-",
		"https://collector?key=sesame":     "-",
		"https://u:sesame@collector":       "-",
		"https://collector/#x":             "-",
		"https://collector:4318:4318/path": "-",
		"col lector:4318":                  "-",
	} {
		tr := Tracing{Endpoint: endpoint}
		u, err := tr.URL()
		got := ""
		switch {
		case err != nil:
			got = "-"
		case u != nil:
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: %q, error %v; want %q", endpoint, got, err, want)
		}
	}
}

// Headers show that they change, and nothing else of them.
func TestTracingHeadersInDiff(t *testing.T) {
	old := mustParse(t, minimal+"tracing: {endpoint: \"collector:4318\", headers: {authorization: sesame}}\n")
	changed := mustParse(t, minimal+"tracing: {endpoint: \"collector:4318\", headers: {authorization: open}}\n")
	changes := Diff(old, changed)
	if len(changes) != 1 || changes[0] != (Change{"tracing.headers", "***", "***", true}) {
		t.Errorf("%+v", changes)
	}
	if Diff(old, old) != nil {
		t.Error("differs from itself")
	}
}
