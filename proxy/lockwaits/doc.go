// Package lockwaits finds changes that wait for each other's row locks across servers, where each server sees a part of the circle
// only. [Watch.Enter] tells it of a change of several nodes that has waited for some time. While some do, it asks their servers who
// waits for whom, and ends one change of every circle. What waits in other processes it knows from the servers' process lists, which each process has
// show on which connections its changes are: so one of a circle over several processes is ended, too.
//
// MySQL manual: "Deadlocks in InnoDB", "The data_lock_waits Table".
package lockwaits
