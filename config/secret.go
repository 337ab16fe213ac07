package config

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "***"

// Secret is a text that no formatting, logging or encoding shows.
type Secret string

// Reveal gives the text itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String gives "***", for an empty secret too.
func (Secret) String() string { return masked }

// GoString gives "***".
func (Secret) GoString() string { return masked }

// Format writes "***" for every verb; without it a mistaken %d would show the text.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// MarshalYAML gives "***".
func (Secret) MarshalYAML() (any, error) { return masked, nil }

// MarshalJSON gives "***".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// LogValue gives "***".
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// Verifiers are stored verifier texts by plugin name. A verifier lets its reader try passwords offline, so it is as
// little shown as a Secret.
type Verifiers map[string]string

// String gives "***".
func (Verifiers) String() string { return masked }

// GoString gives "***".
func (Verifiers) GoString() string { return masked }

// Format writes "***" for every verb.
func (Verifiers) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// MarshalYAML gives "***".
func (Verifiers) MarshalYAML() (any, error) { return masked, nil }

// MarshalJSON gives "***".
func (Verifiers) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// LogValue gives "***".
func (Verifiers) LogValue() slog.Value { return slog.StringValue(masked) }

// Headers are fields of HTTP requests by name. One may carry a key, so that none is shown.
type Headers map[string]string

// String gives "***".
func (Headers) String() string { return masked }

// GoString gives "***".
func (Headers) GoString() string { return masked }

// Format writes "***" for every verb.
func (Headers) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// MarshalYAML gives "***".
func (Headers) MarshalYAML() (any, error) { return masked, nil }

// MarshalJSON gives "***".
func (Headers) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// LogValue gives "***".
func (Headers) LogValue() slog.Value { return slog.StringValue(masked) }
