// Package history finds anomalies in what clients saw of transactions that ran beside each other. The data are lists: a transaction appends values to some of
// them, each value once in all, and reads whole ones. So the last state of a list tells in which order its values came, and each read which of them were
// there, and who depends on whom follows: who appended behind whose value (ww), who read whose value (wr), and who appended behind what a read had seen
// (rw). Transactions that are, one behind the other, what a serial run makes of them have no circle of such edges.
//
// The kinds of anomalies have the names of Adya, Liskov and O'Neil, Generalized Isolation Level Definitions, ICDE 2000.
package history
