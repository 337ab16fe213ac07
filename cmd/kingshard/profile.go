package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pkg/profile"
)

// profiles are what -profile takes.
var profiles = map[string]func(*profile.Profile){
	"cpu": profile.CPUProfile, "mem": profile.MemProfile, "mutex": profile.MutexProfile, "block": profile.BlockProfile, "trace": profile.TraceProfile,
}

// startProfile begins a profile of the whole run, which stop writes into the working directory. Without a kind nothing is done.
func startProfile(kind string) (stop func(), err error) {
	if kind == "" {
		return func() {}, nil
	}
	mode, known := profiles[kind]
	if !known {
		return nil, fmt.Errorf("-profile %q: one of %s", kind, strings.Join(slices.Sorted(maps.Keys(profiles)), ", "))
	}
	// Signals drain the proxy first: the profile's own hook would end it at once.
	return profile.Start(mode, profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet).Stop, nil
}
