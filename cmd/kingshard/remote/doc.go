// Package remote is what the binary does at a running proxy, over its admin SQL: [Admin] sends statements, [Top] shows what
// goes on.
package remote
