package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestSecretNeverShows(t *testing.T) {
	for _, v := range []any{
		Secret("canary"), Verifiers{"canary": "canary"}, Headers{"canary": "canary"},
		&Config{Tracing: Tracing{Headers: Headers{"authorization": "canary"}}},
		User{Password: "canary", Verifiers: Verifiers{"p": "canary"}},
		&Config{WebPassword: "canary", Nodes: []Node{{Password: "canary"}}},
		map[string]any{"k": []Secret{"canary"}},
	} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			fmt.Fprintf(&out, verb, v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		y, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(j)
		out.Write(y)
		for _, form := range []string{"canary", fmt.Sprintf("%x", "canary"), fmt.Sprintf("%X", "canary")} {
			if strings.Contains(out.String(), form) {
				t.Errorf("%T shows in %s", v, out.String())
			}
		}
		if !strings.Contains(out.String(), "***") {
			t.Errorf("%T shows nothing in %s", v, out.String())
		}
	}
	s, v, h := Secret("canary"), Verifiers{"p": "canary"}, Headers{"h": "canary"}
	for _, got := range []string{s.String(), s.GoString(), v.String(), v.GoString(), h.String(), h.GoString()} {
		if got != "***" {
			t.Error(got)
		}
	}
	if s.Reveal() != "canary" {
		t.Error("Reveal does not")
	}
}
