package observe

import (
	"unsafe"

	"kingshard/mysql"
	"kingshard/proxy/tracing"
)

// ChooseQuery reports whether t traces a COM_QUERY with these query attributes, as they came, and this text. Its parent is that of the
// attributes, else of a comment of the text. made remembers the choice: a command is decided about once, whoever asks.
func ChooseQuery(t *tracing.Tracer, made *tracing.Choice, attributes []byte, text string) bool {
	if !made.Made() {
		var p tracing.Parent
		if t.Follows() {
			p = orOfText(attributeParent(attributes), text)
		}
		*made = t.Choose(p)
	}
	return made.Traced()
}

// An Execution is a COM_STMT_EXECUTE as far as its parent goes.
type Execution struct {
	Text   string            // of the prepared statement
	Arg    []byte            // what follows the command's byte; nil if the client sends no query attributes
	Params int               // how many parameters the statement has
	Long   map[uint16][]byte // those that were sent before, whose values are not in Arg
}

// ChooseExecution reports whether t traces an execution of a prepared statement, as ChooseQuery does. A statement that was prepared with a
// parent in its comment has that parent at every execution.
func ChooseExecution(t *tracing.Tracer, made *tracing.Choice, e *Execution) bool {
	if !made.Made() {
		var p tracing.Parent
		if t.Follows() {
			p = orOfText(executionParent(e), e.Text)
		}
		*made = t.Choose(p)
	}
	return made.Traced()
}

// orOfText returns the parent in a comment of text where the attributes' is not known.
func orOfText(p tracing.Parent, text string) tracing.Parent {
	if !p.Known() {
		p, _ = tracing.ParentIn(text)
	}
	return p
}

// attributeParent finds the parent in the encoded query attributes of a COM_QUERY, which the caller has found to be well
// formed. MySQL manual: "COM_QUERY".
func attributeParent(attributes []byte) (p tracing.Parent) {
	if len(attributes) == 0 {
		return p
	}
	c := mysql.NewCursor(attributes)
	n := c.Lenenc()
	c.Lenenc()
	bitmap := c.Bytes(int(n+7) / 8)
	c.Uint8()
	return namedParent(c, bitmap, int(n), 0, nil)
}

// executionParent finds the parent in the query attributes of an execution, behind the statement's parameters. A
// client that leaves the types out leaves the names out, too. MySQL manual: "COM_STMT_EXECUTE".
func executionParent(e *Execution) (p tracing.Parent) {
	arg := e.Arg
	if len(arg) < 9 || e.Params == 0 && arg[4]&mysql.ParameterCountAvailable == 0 {
		return p
	}
	c := mysql.NewCursor(arg[9:])
	n := int(min(c.Lenenc(), 1<<16))
	if n <= e.Params || n == 1<<16 {
		return p
	}
	bitmap := c.Bytes((n + 7) / 8)
	if c.Uint8() == 0 || c.Err() != nil {
		return p
	}
	return namedParent(c, bitmap, n, e.Params, e.Long)
}

// namedParent looks for the attribute's name among n types and names, of which the first few are those of parameters, and reads its
// value. The values of long parameters are not there. What is malformed has no parent.
func namedParent(types mysql.Cursor, bitmap []byte, n, from int, long map[uint16][]byte) (p tracing.Parent) {
	names := types // a copy, to find the place of the values
	at := -1
	for k := range n {
		names.Uint16()
		if name := names.LenencBytes(); k >= from && at < 0 && string(name) == tracing.Name {
			at = k
		}
	}
	if at < 0 || names.Err() != nil || bitmap[at/8]&(1<<(at%8)) != 0 {
		return p
	}
	for k := range at + 1 {
		kind := mysql.ColumnType(types.Uint16())
		types.LenencBytes()
		_, isLong := long[uint16(k)]
		switch {
		case bitmap[k/8]&(1<<(k%8)) != 0 || isLong:
		case k < at:
			mysql.SkipBinaryValue(&names, kind)
		case isTextType(kind):
			value := names.LenencBytes()
			if names.Err() == nil {
				p, _ = tracing.ParseParent(unsafe.String(unsafe.SliceData(value), len(value)))
			}
		}
	}
	return p
}

func isTextType(t mysql.ColumnType) bool {
	switch t {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		return true
	}
	return false
}
