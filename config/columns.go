package config

// Columns are the names of columns: in the file one name, or a list of names.
type Columns []string
