// Package processors has a process run on as few processors as its load needs. What the proxy does for a statement is short, and
// most of it is system calls: spread over more processors than it fills, its threads sleep and wake each other for almost
// each event; on fewer, the next event is there when one is done. See docs/design/processors.md for figures.
//
// [Govern] watches how much processor time the process uses and says, by its callback, how many processors it is to have:
//
//   - More at once, twice as many, when those that it has are nearly full for a tenth of a second.
//   - Fewer when for two seconds the use would have fitted into fewer.
package processors
