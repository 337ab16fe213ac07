// Package sqlparse reads statements for planning: it is the only importer of the SQL parser, and turns the parser's tree
// into the small one that routing needs, with the places in the text where tables are named. The text itself stays the
// client's: plans splice it and never print a tree.
package sqlparse
