// Package console is the page in the browser: embedded files, and the logins of those who look at it. Start with [New]. The page
// reads and changes through REST (package admin), as who has logged in: a cookie names a session that is kept here, and each
// change must carry the session's token in a header, which no page of another site can know.
package console
