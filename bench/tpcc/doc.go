// Package tpcc is the load of an order-entry business as the TPC Benchmark C describes it (revision 5.11): nine tables, five
// transactions and the conditions that the tables meet at any time.
//
// [Load] makes and fills the tables, [Workload.Run] lets clients run transactions, [Check] looks whether the conditions hold. All
// three know nothing but a MySQL address: one server, or a proxy whose rules are [Rules].
//
// It is no TPC-C result: clients neither type nor think, so that a few of them keep a server busy, and nothing is priced.
package tpcc
