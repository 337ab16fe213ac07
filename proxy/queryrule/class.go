package queryrule

import "kingshard/mysql/sqltext"

// classBits is a set of classes of statements, one bit each.
type classBits uint64

func bits(classes ...sqltext.Class) (b classBits) {
	for _, c := range classes {
		b |= 1 << c
	}
	return b
}

// doubtful is the word for statements of any class that cannot be read for certain.
const doubtful = "doubtful"

// classWords are the words of a rule's classes, but for doubtful. Each class of statements but Empty has one or more.
var classWords = map[string]classBits{
	"read":     bits(sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values),
	"write":    bits(sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.LoadData, sqltext.LoadDataLocal),
	"ddl":      bits(sqltext.DDL, sqltext.Truncate, sqltext.CreateTemporary, sqltext.DropTemporary),
	"select":   bits(sqltext.Select, sqltext.With),
	"insert":   bits(sqltext.Insert),
	"replace":  bits(sqltext.Replace),
	"update":   bits(sqltext.Update),
	"delete":   bits(sqltext.Delete),
	"truncate": bits(sqltext.Truncate),
	"load":     bits(sqltext.LoadData, sqltext.LoadDataLocal),
	"set":      bits(sqltext.Set),
	"use":      bits(sqltext.Use),
	"show":     bits(sqltext.Show, sqltext.ShowWarnings, sqltext.ShowErrors, sqltext.ShowProcesslist, sqltext.Describe),
	"explain":  bits(sqltext.Explain),
	"lock":     bits(sqltext.LockTables, sqltext.UnlockTables),
	"flush":    bits(sqltext.Flush),
	"kill":     bits(sqltext.Kill),
	"prepare":  bits(sqltext.Prepare, sqltext.Deallocate),
	"execute":  bits(sqltext.Execute),
	"call":     bits(sqltext.Call),
	"do":       bits(sqltext.Do),
	"handler":  bits(sqltext.Handler),
	"account":  bits(sqltext.Grant),
	"admin":    bits(sqltext.Admin, sqltext.ChangeReplication, sqltext.BinlogStmt),
	"transaction": bits(sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.RollbackTo, sqltext.Savepoint, sqltext.ReleaseSavepoint,
		sqltext.XA),
	"other": bits(sqltext.Other, sqltext.GetDiagnostics, sqltext.Signal, sqltext.Help, sqltext.CompoundBegin, sqltext.SetStatement),
}

// classesOf gives the classes that a statement counts as: its own and, where another one is carried out within it, that one's.
func classesOf(i *sqltext.Info) classBits {
	b := bits(i.Class)
	if i.Class == sqltext.SetStatement || i.Has(sqltext.Analyze) {
		b |= bits(i.Target)
	}
	return b
}
