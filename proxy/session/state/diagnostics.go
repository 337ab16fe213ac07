package state

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// Warning is a row of SHOW WARNINGS.
type Warning struct {
	Level   string // "Note", "Warning" or "Error"
	Code    uint16
	Message string
	Row     int // of the INSERT that it is about, from 1; 0 where it names none
}

// WarningsMax bounds the warnings kept for a session whose connection went back to the pool.
const WarningsMax = 1024

// Diagnostics is what the last statement left for ROW_COUNT(), SHOW WARNINGS and SHOW ERRORS.
type Diagnostics struct {
	// RowCount is what ROW_COUNT() gives.
	RowCount int64
	// Warnings are kept while the connection that has them is not. The memory is used again for those of later statements.
	Warnings []Warning
	// WarningCount and ErrorCount are @@warning_count and @@error_count.
	WarningCount, ErrorCount int
}

// Clear forgets the warnings and errors themselves, ahead of those of another statement.
func (d *Diagnostics) Clear() { d.Warnings, d.ErrorCount = d.Warnings[:0], 0 }

// Forget forgets the warnings and errors, and how many there were.
func (d *Diagnostics) Forget() { d.Warnings, d.WarningCount, d.ErrorCount = d.Warnings[:0], 0, 0 }

// SetError makes e what SHOW WARNINGS shows.
func (d *Diagnostics) SetError(e *mysql.SQLError) {
	d.RowCount = -1
	d.Warnings = append(d.Warnings[:0], Warning{Level: "Error", Code: e.Code, Message: e.Message})
	d.WarningCount, d.ErrorCount = 1, 1
}

// Add keeps further warnings, as many as there is room for.
func (d *Diagnostics) Add(more []Warning) {
	for _, w := range more[:min(len(more), WarningsMax-len(d.Warnings))] {
		d.Warnings = append(d.Warnings, w)
		if w.Level == "Error" {
			d.ErrorCount++
		}
	}
}

// ReadWarnings asks c for what the last statement on it left, with the names that the client knows. The list is the caller's.
func ReadWarnings(c *backend.Conn, names []mysql.TableName) (list []Warning, err error) {
	err = c.Rows("SHOW WARNINGS", 3, func(row []string) {
		if len(list) >= WarningsMax {
			return
		}
		code, _ := strconv.ParseUint(row[1], 10, 16)
		list = append(list, Warning{Level: row[0], Code: uint16(code), Message: mysql.RenameText(uint16(code), row[2], names)})
	})
	return list, err
}

// Shown returns the rows of a SHOW WARNINGS or SHOW ERRORS: level, code and message.
func (d *Diagnostics) Shown(sh sqltext.ShowStmt) (rows [][]string) {
	skip := max(sh.Offset, 0)
	for _, w := range d.Warnings {
		if sh.What == sqltext.Errors && w.Level != "Error" {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if sh.Limit >= 0 && len(rows) >= sh.Limit {
			break
		}
		rows = append(rows, []string{w.Level, strconv.Itoa(int(w.Code)), w.Message})
	}
	return rows
}

// SortByRow puts warnings in the order of the rows that they are about, as one server has them, if all name theirs.
func (d *Diagnostics) SortByRow() {
	if !slices.ContainsFunc(d.Warnings, func(w Warning) bool { return w.Row == 0 }) {
		slices.SortStableFunc(d.Warnings, func(a, b Warning) int { return a.Row - b.Row })
	}
}

// ERDeprecated is the code of the warning of syntax that goes. MySQL manual: "Server Error Message Reference".
const ERDeprecated = 1287

// ofText are the codes of warnings about the text of a statement: that something in it is deprecated, or a name in GROUP BY is that of a column
// and of an alias. MySQL manual: "Server Error Message Reference".
var ofText = map[uint16]bool{1052: true, ERDeprecated: true, 1681: true, 3719: true, 3720: true, 3778: true}

// erTruncatedWrongValue is the code of a value that is none of a type. MySQL manual: "Server Error Message Reference".
const erTruncatedWrongValue = 1292

// ofConstant reports whether a warning of a query is about a constant of its text, or a parameter: MySQL puts those into the columns of an
// index that they are compared with, once for each table. Rows are never told of by column.
func (w *Warning) ofConstant(text string, params bool) bool {
	if w.Code != erTruncatedWrongValue {
		return false
	}
	_, value, _ := strings.Cut(w.Message, ": '")
	value, _, stored := strings.Cut(value, "' for column '")
	return stored && (params || strings.Contains(text, value))
}

// oncePerColumn are the codes that MySQL gives once for each column, however many rows are at fault: that a value is missing,
// or NULL where none may be.
var oncePerColumn = map[uint16]bool{1048: true, 1364: true}

// DropRepeated leaves out warnings of which a change has one, but every shard gives it again, from those added since there were had. It
// returns how many those were.
func (d *Diagnostics) DropRepeated(had int, mariaDB bool) (dropped uint16) {
	kept := d.Warnings[:had]
	for _, w := range d.Warnings[had:] {
		once := ofText[w.Code] || !mariaDB && oncePerColumn[w.Code]
		if once && slices.Contains(kept[:had], w) {
			dropped++
			continue
		}
		kept = append(kept, w)
	}
	d.Warnings = kept
	return dropped
}

// OnceForAll leaves the warnings about the text of a query and its constants as often as one server gives them, where they are those of so
// many pieces of it. The text is that of a piece; params says that it has parameters.
func (d *Diagnostics) OnceForAll(pieces int, text string, params bool) {
	seen := map[Warning]int{}
	kept := d.Warnings[:0]
	for _, w := range d.Warnings {
		if ofText[w.Code] || w.ofConstant(text, params) {
			if seen[w]++; (seen[w]-1)%pieces != 0 {
				continue
			}
		}
		kept = append(kept, w)
	}
	d.Warnings = kept
}
