// Package tpch is the tables and the 22 queries of the TPC Benchmark H (revision 3.0.1): what a wholesale business asks of all its orders at once.
//
// [Load] makes and fills the tables, [Queries] are the queries with the values by which their answers are validated. Both know nothing but a MySQL address: one server, or a
// proxy whose rules are [Rules].
//
// It is no TPC-H result: rows are drawn by this package in the specified ranges, not by the benchmark's own program, and nothing is priced.
package tpch
