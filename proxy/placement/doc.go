// Package placement looks at what lies on the nodes: whether the sub-tables of a table are alike ([Differences]), whether
// rows are where their rule looks for them ([Rows]), and whether the servers compare keys of text as the rule folds them
// ([Collations]). It asks on connections of its own, and changes nothing.
package placement
