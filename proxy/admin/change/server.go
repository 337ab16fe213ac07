package change

import (
	"kingshard/config"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
)

// Server is what changes are made through. Each method serialises with reloads; after an error nothing has changed. Changed
// fields go to the audit log.
type Server interface {
	// Reload brings a configuration into force; one that places rows elsewhere, or has primaries that are not fit, only where forced is set.
	Reload(by querylog.By, cfg *config.Config, forced bool) error
	// Moves lists those of the changes from the configuration in force that place rows elsewhere, by their paths.
	Moves(cfg *config.Config) (fields []string, err error)
	// Unfit lists the primaries of a configuration that are new, or reached otherwise than those in force, and not fit.
	Unfit(cfg *config.Config) Unfits
	// Edit changes a copy of the configuration in force, checks it and brings it into force. The black list stays. Unfits are one of
	// the errors; with forced only such as cannot be reached.
	Edit(by querylog.By, forced bool, change func(cfg *config.Config) error) error
	// ChangeNode changes one node of the configuration in force, and leaves the others alone; unasked where its servers have said what is to change. Unfits are one of
	// the errors.
	ChangeNode(by querylog.By, node string, unasked bool, change func(n *config.Node) error) error
	// EditBlacklist puts another black list in force.
	EditBlacklist(change func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error
	// Steady runs f while no reload does, so that what it does to an instance is not lost in one.
	Steady(f func())
	// Upgrade hands over to the process of the binary's file, which may be a new one, and describes that process.
	Upgrade() (successor string, err error)
}
