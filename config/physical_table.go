package config

// String is node/db.table, without the database where it is the rule's.
func (p PhysicalTable) String() string {
	if p.DB == "" {
		return p.Node + "/" + p.Table
	}
	return p.Node + "/" + p.DB + "." + p.Table
}
