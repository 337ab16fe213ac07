// Package driver is the room where transactions over several nodes end: it carries out on connections what the state machines of package
// twophase ask for. A [Transaction] is ended by the session that began it; [Driver.Run] ends those that any process has left behind.
package driver
