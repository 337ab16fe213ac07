// Package lockwaits finds changes that wait for each other's row locks across servers, where each server sees a part of the circle
// only. [Watch.Enter] tells it of a change of several nodes that has waited for some time. While several do, it asks their servers who
// waits for whom, and ends one change of every circle.
//
// MySQL manual: "Deadlocks in InnoDB", "The data_lock_waits Table".
package lockwaits
