// Package collation brings texts to forms that are the same for all which a server's collation calls equal. Start with
// [ByName].
package collation
