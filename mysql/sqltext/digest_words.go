package sqltext

// role is what a token says of a literal behind it, and what a word does to the clause that it stands in.
type role uint8

const (
	roleOperand role = iota // a name, a variable, ')'; and all words that are not listed
	roleLiteral
	roleCompare
	roleArithmetic
	roleLead // what a value follows: LIKE, THEN
	roleOpen
	roleComma
	roleDot
	roleOther // what no value follows, or none that may be left out of the key

	roleIn
	roleAnd
	roleBetween
	roleNull
	roleBinary // operators in letters that bind what is before them: COLLATE, DIV, MOD
	roleType   // types that have a length, and functions that have one
	roleTable  // JSON_TABLE
	roleSelect // and RETURNING: a list of columns follows
	roleFrom   // ends that list
	roleJoin   // a table follows
	roleWhere  // conditions follow
	roleOn     // conditions follow, behind tables
	roleOrder  // GROUP, ORDER, HAVING and others: the literals stay
	roleLimit  // the numbers of LIMIT follow
	roleOffset // in LIMIT as LIMIT itself, a name elsewhere
	roleUnion  // another query follows
	roleSet    // assignments follow
	roleValues // rows follow, in INSERT
	roleInsert // and REPLACE
	roleChange // UPDATE and DELETE
	roleWith
	roleOnInsert // DUPLICATE: assignments follow
)

// roleNames are the words with a role of their own.
var roleNames = map[string]role{
	"in": roleIn, "and": roleAnd, "between": roleBetween, "null": roleNull, "json_table": roleTable, "select": roleSelect,
	"returning": roleSelect, "from": roleFrom, "join": roleJoin, "straight_join": roleJoin, "where": roleWhere, "on": roleOn,
	"group": roleOrder, "order": roleOrder, "having": roleOrder, "window": roleOrder, "procedure": roleOrder,
	"into": roleOrder, "limit": roleLimit, "offset": roleOffset, "union": roleUnion, "except": roleUnion,
	"intersect": roleUnion, "minus": roleUnion, "set": roleSet, "values": roleValues, "value": roleValues, "insert": roleInsert,
	"replace": roleInsert, "update": roleChange, "delete": roleChange, "with": roleWith, "duplicate": roleOnInsert,
	"collate": roleBinary, "div": roleBinary, "mod": roleBinary,
	"like": roleLead, "rlike": roleLead, "regexp": roleLead, "then": roleLead, "else": roleLead, "when": roleLead, "case": roleLead,
	"or": roleOther, "xor": roleOther, "not": roleOther, "interval": roleOther, "escape": roleOther, "is": roleOther,
	"exists": roleOther, "ignore": roleOther, "delayed": roleOther, "low_priority": roleOther, "high_priority": roleOther,
	"as": roleOther, "by": roleOther, "using": roleOther, "distinct": roleOther, "all": roleOther, "any": roleOther, "some": roleOther,
	"binary": roleType, "char": roleType, "character": roleType, "varchar": roleType, "nchar": roleType, "varying": roleType,
	"varbinary": roleType, "nvarchar": roleType, "decimal": roleType, "dec": roleType, "numeric": roleType, "fixed": roleType,
	"float": roleType, "float4": roleType, "float8": roleType, "double": roleType, "real": roleType, "precision": roleType,
	"bit": roleType, "int": roleType, "integer": roleType, "signed": roleType, "unsigned": roleType, "vector": roleType,
	"time": roleType, "datetime": roleType, "timestamp": roleType, "year": roleType, "now": roleType, "sysdate": roleType,
	"curtime": roleType, "current_time": roleType, "current_timestamp": roleType, "localtime": roleType,
	"localtimestamp": roleType, "utc_time": roleType, "utc_timestamp": roleType,
}

// wordRoles holds the roles by the places of words.
var wordRoles = func() []role {
	roles := make([]role, len(words))
	for k, w := range words {
		roles[k] = roleNames[w.name]
	}
	return roles
}()

// opRole gives the role of an operator that is neither a parenthesis nor a comma.
func opRole(op string) role {
	switch op {
	case "=", "<", ">", "<=", ">=", "<>", "!=", "<=>":
		return roleCompare
	case "+", "-", "*", "/", "%", "^", "|", "&", "<<", ">>":
		return roleArithmetic
	case ".":
		return roleDot
	}
	return roleOther
}
