// Package process is the proxy's process list: for each session what others may see of it, and what they may do to it, while it works. MySQL
// manual: "SHOW PROCESSLIST Statement", "KILL Statement".
//
// An [Entry] is one session's row with its lock, a [List] has those of all sessions. The session itself writes its entry as it goes from
// command to command; everybody else looks at it, ends its statement or closes it, from any goroutine.
package process
