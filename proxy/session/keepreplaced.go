package session

// replace runs a statement that may change or leave out rows that are there: REPLACE, INSERT IGNORE and ON DUPLICATE KEY UPDATE.
func (in *inserting) replace() error {
	return in.refused("REPLACE, INSERT IGNORE or ON DUPLICATE KEY UPDATE of")
}
