// Package mysqltest starts throw-away MariaDB and MySQL servers for tests and the demo ([StartServer], [Shared]), on free
// loopback ports and in directories of their own, and stops them by the process it started. The scripts in install get
// the servers.
package mysqltest
