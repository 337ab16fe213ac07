package account

// Rights are what somebody may do to the proxy itself. Each contains those before it.
type Rights uint8

// The rights.
const (
	None    Rights = iota
	Read           // look at the proxy's state
	Operate        // kill sessions, take instances down and up, reload
	Admin          // change the configuration
)

var rightsNames = [...]string{"none", "read", "operate", "admin"}

// String gives the word of the configuration.
func (r Rights) String() string { return rightsNames[r] }

// ParseRights reads the word of the configuration; any other word gives none.
func ParseRights(word string) Rights {
	for r, name := range rightsNames {
		if name == word {
			return Rights(r)
		}
	}
	return None
}
