// Package rig sets up what is compared: throw-away database servers with the benchmark's tables, and before them nothing,
// HAProxy as a TCP relay, or kingshard. A Rig is started once; contenders are opened for each scenario, so that none
// carries anything over from the last.
package rig
