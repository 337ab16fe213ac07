// Package mysqltest starts throw-away MariaDB and MySQL servers for tests and the demo ([StartServer], [Shared]), on free
// loopback ports and in directories of their own. They end by [RealServer.Stop], and with the process that started them.
// The scripts in install get the servers.
package mysqltest
