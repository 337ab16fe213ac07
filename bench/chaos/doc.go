// Package chaos has a constant load go on through a kingshard over two nodes while something fails, a server, the network or the proxy itself,
// and judges what clients heard by what the servers have: a [Fault] is what fails, a [Result] what came of it.
//
// Not done, as it cannot be done on one machine without its administrator: a full disk (a full tablespace takes its place) and a machine that
// loses power.
package chaos
