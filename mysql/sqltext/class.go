package sqltext

// Class is what kind of statement a text is.
type Class uint8

// The classes.
const (
	Empty Class = iota // no statement: blanks and comments at most
	Select
	With // WITH ... SELECT; before UPDATE or DELETE it is of their class
	Table
	Values
	Insert
	Replace
	Update
	Delete
	Truncate
	LoadData
	LoadDataLocal
	Set
	Use
	Show
	ShowWarnings // and SHOW COUNT(*) WARNINGS
	ShowErrors   // and SHOW COUNT(*) ERRORS
	ShowProcesslist
	Describe // of a table
	Explain  // of a statement, Info.Target; with Analyze it is carried out
	Begin    // and START TRANSACTION
	Commit
	Rollback
	RollbackTo
	Savepoint
	ReleaseSavepoint
	XA
	LockTables // and LOCK INSTANCE, BACKUP STAGE, BACKUP LOCK, which hold locks too
	UnlockTables
	Flush
	Kill
	Prepare
	Execute // and EXECUTE IMMEDIATE
	Deallocate
	Call
	Do
	Handler
	DDL
	CreateTemporary
	DropTemporary
	GetDiagnostics
	Signal
	Help
	Grant             // and all account statements
	Admin             // table maintenance, plugins, the server itself
	ChangeReplication // and START, STOP, RESET and PURGE
	BinlogStmt
	CompoundBegin // MariaDB: BEGIN NOT ATOMIC and other compound statements outside of routines
	SetStatement  // MariaDB: SET STATEMENT ... FOR Info.Target
	Other
)

var classNames = [...]string{
	"Empty", "Select", "With", "Table", "Values", "Insert", "Replace", "Update", "Delete", "Truncate", "LoadData",
	"LoadDataLocal", "Set", "Use", "Show", "ShowWarnings", "ShowErrors", "ShowProcesslist", "Describe", "Explain", "Begin",
	"Commit", "Rollback", "RollbackTo", "Savepoint", "ReleaseSavepoint", "XA", "LockTables", "UnlockTables", "Flush", "Kill",
	"Prepare", "Execute", "Deallocate", "Call", "Do", "Handler", "DDL", "CreateTemporary", "DropTemporary", "GetDiagnostics",
	"Signal", "Help", "Grant", "Admin", "ChangeReplication", "BinlogStmt", "CompoundBegin", "SetStatement", "Other",
}

// String returns the constant's name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "Class(?)"
}

// query tells the classes that only read, whatever their traits say.
func (c Class) query() bool { return c >= Select && c <= Values }
