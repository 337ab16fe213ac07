package admin

import (
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
)

// port answers on the admin port what client programs and drivers send by themselves: SET, SELECT of a few system
// variables and functions, SHOW WARNINGS, PROCESSLIST and VARIABLES, USE, KILL. nil for everything else.
func (c *call) port(r *reader) (*answer, error) {
	c.r = r
	switch {
	case r.Word("set"), r.Word("commit"), r.Word("rollback"), r.Word("begin"), r.Word("start"):
		return &answer{}, nil // there is nothing that it could be about: a session here has no state but its database
	case r.Word("select"):
		return c.constants()
	case r.Word("kill"):
		if err := c.who.Need(killCommand.rights, "KILL"); err != nil {
			return nil, err
		}
		return killCommand.run(c)
	case r.Word("show"):
		r.Word("full")
		switch {
		case r.Word("processlist"):
			if err := r.End(); err != nil {
				return nil, err
			}
			t := &processlistTable
			return &answer{t.columns, t.rows(c.a.view(c.who))}, nil
		case r.Word("warnings"), r.Word("errors"):
			return &answer{append(texts("Level"), append(numbers("Code"), texts("Message")...)...), nil}, nil
		case r.Word("session"), r.Word("global"), r.Is("variables"), r.Is("status"):
			return &answer{texts("Variable_name", "Value"), nil}, nil
		}
	}
	return nil, nil
}

// itemsMax bounds the items of a SELECT.
const itemsMax = 100

// constants answers SELECT of literals, system variables and functions about the session; nil for any other.
func (c *call) constants() (*answer, error) {
	var columns []column
	var row []any
	for len(row) < itemsMax {
		begin, end := c.r.Tok.Pos, 0
		cell, numeric, ok := c.constant(&end)
		if !ok {
			return nil, nil
		}
		name := c.r.Text[begin:end]
		if c.r.Word("as") || c.r.Tok.Kind == sqltext.KindQuotedIdent || c.r.Tok.Kind == sqltext.KindWord && !c.r.Is("limit") {
			if name, ok = c.r.Name(); !ok {
				return nil, c.r.Expected("a name")
			}
		}
		columns, row = append(columns, column{name, numeric}), append(row, cell)
		if c.r.Op(",") {
			continue
		}
		if c.r.Word("limit") {
			if _, ok := c.r.Number(); !ok {
				return nil, c.r.Expected("a number")
			}
		}
		if !c.r.Ended() {
			return nil, nil
		}
		return &answer{columns, [][]any{row}}, nil
	}
	return nil, nil
}

// constant reads one item and gives its value; end is where its text ends.
func (c *call) constant(end *int) (cell any, numeric, ok bool) {
	t, raw := c.r.Tok, c.r.Raw()
	*end = t.End
	switch t.Kind {
	case sqltext.KindNumber:
		c.r.Next()
		return raw, true, true
	case sqltext.KindString:
		value, ok := c.r.Name()
		return value, false, ok
	case sqltext.KindSysVar:
		name := strings.ToLower(strings.TrimPrefix(sqltext.SysVar(raw), "@@"))
		for _, scope := range []string{"session.", "global.", "local."} {
			name = strings.TrimPrefix(name, scope)
		}
		value, known := c.variable(name)
		c.r.Next()
		return value, false, known
	case sqltext.KindWord:
		name := strings.ToLower(raw)
		c.r.Next()
		if !c.r.Op("(") {
			return nil, false, false
		}
		*end = c.r.Tok.End
		if !c.r.Op(")") {
			return nil, false, false
		}
		return c.function(name)
	}
	return nil, false, false
}

func (c *call) function(name string) (cell any, numeric, ok bool) {
	switch name {
	case "version":
		return c.caller.Version, false, true
	case "user", "current_user", "session_user", "system_user":
		return c.caller.User + "@" + c.caller.Host, false, true
	case "connection_id":
		return uint64(c.caller.ID), true, true
	case "database", "schema":
		return orNil(c.caller.DB), false, true
	}
	return nil, false, false
}

// variable gives the system variables that drivers ask for when they connect.
func (c *call) variable(name string) (value string, known bool) {
	cfg := c.a.shared.Snapshot.Load().Config
	switch name {
	case "version":
		return c.caller.Version, true
	case "version_comment":
		return "kingshard admin", true
	case "max_allowed_packet":
		return strconv.FormatInt(int64(cfg.MaxAllowedPacket), 10), true
	case "wait_timeout", "interactive_timeout", "net_write_timeout", "net_read_timeout":
		return strconv.Itoa(int(cfg.IdleTimeout.Duration().Seconds())), true
	case "character_set_client", "character_set_connection", "character_set_results", "character_set_server", "character_set_database":
		return "utf8mb4", true
	case "collation_connection", "collation_server", "collation_database":
		return "utf8mb4_general_ci", true
	case "autocommit", "auto_increment_increment":
		return "1", true
	case "lower_case_table_names", "query_cache_size", "performance_schema", "tx_read_only", "transaction_read_only":
		return "0", true
	case "tx_isolation", "transaction_isolation":
		return "REPEATABLE-READ", true
	case "time_zone", "system_time_zone":
		return "SYSTEM", true
	case "query_cache_type":
		return "OFF", true
	case "sql_mode", "init_connect", "license":
		return "", true
	}
	return "", false
}
