package dump

import (
	"strings"

	"kingshard/mysql"
)

// flags gives the columns those that their attributes and the keys make.
func (d *definition) flags() {
	for k := range d.columns {
		c := &d.columns[k]
		if c.primary {
			d.keys = append([]key{{primary: true, unique: true, columns: []string{c.def.Name}}}, d.keys...)
		}
		if c.unique {
			d.keys = append(d.keys, key{unique: true, columns: []string{c.def.Name}})
		}
	}
	for _, k := range d.keys {
		for _, name := range k.columns {
			if c := d.column(name); c != nil && k.primary {
				c.notNull = true
			}
		}
	}
	for k := range d.columns {
		if c := &d.columns[k]; c.refers && (d.mode.MariaDB || d.mode.ServerVersion >= 90000) && !d.begins([]string{c.def.Name}) {
			d.keys = append(d.keys, key{columns: []string{c.def.Name}}) // servers make one
		}
	}
	primary := d.primary()
	for n := range d.keys {
		k := &d.keys[n]
		for at, name := range k.columns {
			c := d.column(name)
			if c == nil {
				continue
			}
			f := &c.def.Flags
			*f |= partOfKeyFlag
			switch {
			case n == primary:
				*f |= primaryFlag
			case at > 0:
			case k.unique && len(k.columns) == 1:
				*f |= uniqueFlag
			default:
				*f |= multipleFlag
			}
		}
	}
	for k := range d.columns {
		c := &d.columns[k]
		f := &c.def.Flags
		if c.notNull = c.notNull || c.period; c.notNull {
			*f |= mysql.NotNullFlag
		}
		if c.auto {
			*f |= autoFlag
		}
		if c.onUpdate && (d.mode.MariaDB || c.def.Type == mysql.TypeTimestamp) { // MySQL does not tell of DATETIME
			*f |= onUpdateNowFlag
		}
		if c.def.Type == mysql.TypeTimestamp {
			if c.now || c.onUpdate {
				*f |= timestampFlag
			}
			if d.mode.MariaDB {
				*f |= mysql.UnsignedFlag
			}
		}
		if c.notNull && !c.defaults && !c.auto {
			*f |= noDefaultFlag
		}
	}
}

// indexBytesMax is how long values are of which an index of InnoDB keeps all. Of longer ones a UNIQUE key of MariaDB keeps hashes.
const indexBytesMax = 3072

// primary is the place of the key that the server takes for the primary one: PRIMARY KEY, or the first UNIQUE key whose columns are whole and
// cannot be NULL; -1 for none.
func (d *definition) primary() int {
	for n, k := range d.keys {
		if k.primary {
			return n
		}
	}
	for n, k := range d.keys {
		if !k.unique || k.prefix || k.hashed {
			continue
		}
		whole, bytes := true, uint32(0)
		for _, name := range k.columns {
			c := d.column(name)
			whole = whole && c != nil && c.notNull && c.def.Type != mysql.TypeBlob
			if c != nil {
				bytes += c.def.Length
			}
		}
		if whole && (bytes <= indexBytesMax || !d.mode.MariaDB) {
			return n
		}
	}
	return -1
}

func (d *definition) column(name string) *column {
	for k := range d.columns {
		if strings.EqualFold(d.columns[k].def.Name, name) {
			return &d.columns[k]
		}
	}
	return nil
}
