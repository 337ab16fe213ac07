// Package config is the configuration of the proxy: one YAML file, read by [Load] into a [Config], checked as a whole and
// compared with its successor by [Diff] on a reload.
//
// Every problem is a [Fault] with the path and line of the key it is about; all of them are reported at once, and a
// configuration comes back only if none of them is more than a warning. Defaults are set before decoding, so a key that
// is absent or empty keeps its default and a false or 0 in the file stays what it is. Secrets are of type [Secret], which
// no formatting, logging or encoding reveals.
//
// The meaning of each key is the comment of its field, from which docs/config.md is generated.
package config

//go:generate go test -run ^TestReference$ . -update
