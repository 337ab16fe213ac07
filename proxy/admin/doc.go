// Package admin is how people and programs look at the proxy and change it: admin SQL and REST, on the same tables and the
// same actions. Start with [New]; [Admin.Statement] answers statements, [Admin.Handler] requests. What is shown is a [table]:
// columns and a function from the state to rows. What is done goes through package change, which checks rights and leaves a
// line in the log and in the list of events.
package admin
