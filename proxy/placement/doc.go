// Package placement looks at what lies on the nodes: whether the sub-tables of a table are alike ([Differences]), whether
// rows are where their rule looks for them ([Rows]), and whether the servers compare keys of text as the rule folds them
// ([Collations]), and whether the copies of a table that is whole on every node are equal ([Copies]). It asks on connections of
// its own, and changes nothing but copies that it is told to repair.
package placement
