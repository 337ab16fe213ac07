// Package dump reads the definitions of tables out of what mysqldump and mariadb-dump write, and turns them into the column definitions that a
// server sends for SELECT *. Start with [Schema.Read].
//
// A file is read as a stream: rows are skipped, and no more than one definition is in memory.
package dump
