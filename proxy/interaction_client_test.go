package proxy_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// connect logs a client in: its name, then user=, password=, db=, without= and with=, which takes a capability without CLIENT_.
func (r *interaction) connect(words []string) ([]string, error) {
	c := &scriptClient{name: words[0], stmts: map[string]*mysqltest.RawStmt{}, columns: map[string][]mysql.ColumnDefinition41{}}
	config := mysqltest.ClientConfig{User: "app", Password: "app"}
	with := mysql.ClientLocalFiles
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "user":
			config.User, config.Password = value, value
		case "password":
			config.Password = value
		case "db":
			config.DB = value
		case "without":
			config.Without |= capabilityOf(value)
		default:
			return nil, fmt.Errorf("what is %s", word)
		}
	}
	config.Capabilities = (mysqltest.ScriptCapabilities | mysql.ClientMultiStatements | with) &^ mysql.ClientConnectWithDB &^ config.Without
	var err error
	c.conn, err = mysqltest.DialRaw(r.proxy.addr, config)
	var refused *mysql.SQLError
	switch {
	case asSQLError(err, &refused):
		return []string{c.name + " <- " + shownError(refused)}, nil
	case err != nil:
		return nil, err
	}
	r.t.Cleanup(func() { c.conn.Conn.Close() })
	r.clients[c.name] = c
	return []string{c.name + " <- " + shownOK("OK", &c.conn.LoginOK)}, nil
}

// command sends a command and gives what the client receives.
func (r *interaction) command(c *scriptClient, text string, body []string) ([]string, error) {
	if err := r.send(c, text, body); err != nil {
		return nil, err
	}
	answer := c.answer
	c.answer = nil
	lines := <-answer
	if text == mysql.ComQuit.String() || slices.Contains(lines, c.name+" <- "+connectionClosed) {
		r.leave(c)
	}
	return lines, nil
}

// leave closes a client's connection.
func (r *interaction) leave(c *scriptClient) {
	c.conn.Conn.Close()
	delete(r.clients, c.name)
}

// send sends a command; c.answer gives what the client receives.
func (r *interaction) send(c *scriptClient, text string, body []string) error {
	for name, other := range r.clients {
		text = strings.ReplaceAll(text, "$"+name, strconv.FormatUint(uint64(other.conn.Greeting.ConnectionID), 10))
	}
	c.answer = make(chan []string, 1)
	cmd, argument, statement, err := c.encode(text)
	if err != nil {
		return err
	}
	go func(answer chan<- []string) {
		lines := c.converse(cmd, argument, statement, body)
		for k := range lines {
			lines[k] = c.name + " <- " + lines[k]
		}
		answer <- lines
	}(c.answer)
	return nil
}

// encode reads a command: a statement, which is COM_QUERY, or a command's name with what it takes. statement names the prepared one.
func (c *scriptClient) encode(text string) (cmd mysql.Command, argument, statement string, err error) {
	name, rest, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(name, "COM_") {
		return mysql.ComQuery, text, "", nil
	}
	known := false
	for n := range 256 {
		if mysql.Command(n).String() == name {
			cmd, known = mysql.Command(n), true
			break
		}
	}
	if !known {
		return 0, "", "", fmt.Errorf("no command is called %s", name)
	}
	number := func(text string) (n uint64) {
		if n, err = strconv.ParseUint(text, 10, 32); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return n
	}
	switch cmd {
	case mysql.ComStmtPrepare:
		statement, argument, _ = strings.Cut(rest, " ")
		return cmd, argument, statement, nil
	case mysql.ComStmtExecute, mysql.ComStmtFetch, mysql.ComStmtClose, mysql.ComStmtReset, mysql.ComStmtSendLongData:
		statement, rest, _ = strings.Cut(rest, " ")
		st := c.stmts[statement]
		if st == nil {
			st = c.conn.Statement()
			st.StatementID = 77 // which there is not
		}
		argument, err = c.statementArgument(cmd, st, rest)
		return cmd, argument, statement, err
	case mysql.ComProcessKill:
		argument = string(binary.LittleEndian.AppendUint32(nil, uint32(number(rest))))
	case mysql.ComSetOption:
		argument = string(binary.LittleEndian.AppendUint16(nil, uint16(number(rest))))
	case mysql.ComFieldList:
		table, wild, _ := strings.Cut(rest, " ")
		argument = table + "\x00" + wild
	default:
		argument = rest
	}
	return cmd, argument, "", err
}

// statementArgument makes what follows a command about a prepared statement.
func (c *scriptClient) statementArgument(cmd mysql.Command, st *mysqltest.RawStmt, text string) (string, error) {
	id := string(binary.LittleEndian.AppendUint32(nil, st.StatementID))
	switch cmd {
	case mysql.ComStmtFetch:
		n, err := strconv.ParseUint(text, 10, 32)
		return id + string(binary.LittleEndian.AppendUint32(nil, uint32(n))), err
	case mysql.ComStmtSendLongData:
		parameter, data, _ := strings.Cut(text, " ")
		n, err := strconv.ParseUint(parameter, 10, 16)
		return id + string(binary.LittleEndian.AppendUint16(nil, uint16(n))) + data, err
	case mysql.ComStmtExecute:
		rest, cursor := strings.CutPrefix(text, "cursor")
		flags := byte(0)
		if cursor {
			flags = 1
		}
		all, quoted, err := words(rest)
		if err != nil {
			return "", err
		}
		var args []any
		for k, word := range all {
			n, notNumber := strconv.ParseInt(word, 10, 64)
			switch {
			case quoted[k] || notNumber != nil && word != "NULL":
				args = append(args, word)
			case word == "NULL":
				args = append(args, nil)
			default:
				args = append(args, n)
			}
		}
		return st.ExecuteBody(flags, args...)
	}
	return id, nil
}

// converse sends a command and shows what comes back until the response is over or the connection is closed. body is the file that the
// client sends when it is asked for one.
func (c *scriptClient) converse(cmd mysql.Command, argument, statement string, body []string) []string {
	if cmd == mysql.ComChangeUser {
		words := strings.Fields(argument + " ")
		for len(words) < 3 {
			words = append(words, "")
		}
		var refused *mysql.SQLError
		switch err := c.conn.ChangeUser(words[0], words[1], words[2]); {
		case asSQLError(err, &refused):
			return []string{shownError(refused)}
		case err != nil:
			return []string{connectionClosed}
		}
		return []string{shownOK("OK", &c.conn.LoginOK)}
	}
	packets, err := c.conn.Command(cmd, argument)
	r := &reader{client: c.conn, packets: packets, binary: cmd == mysql.ComStmtExecute || cmd == mysql.ComStmtFetch, columns: c.columns[statement]}
	lines := r.response(cmd)
	for err == nil && len(packets) > 0 && len(packets[len(packets)-1]) > 0 && packets[len(packets)-1][0] == mysql.LocalInfileHeader {
		if packets, err = c.sendFile(body); err == nil {
			lines = append(lines, (&reader{client: c.conn, packets: packets}).response(cmd)...)
		}
	}
	switch {
	case err != nil:
		return append(lines, connectionClosed)
	case cmd == mysql.ComStmtPrepare && packets[0][0] == mysql.OKHeader:
		st := c.conn.Statement()
		if err := st.Decode(packets[0], c.conn.Conn.Capabilities); err == nil {
			c.stmts[statement] = st
		}
	case cmd == mysql.ComStmtExecute:
		c.columns[statement] = r.columns
	case cmd == mysql.ComQuit:
		return []string{c.closedOrNot()}
	}
	return lines
}

// closedOrNot tells that the proxy closes the connection, which it is to do now.
func (c *scriptClient) closedOrNot() string {
	if p, err := c.conn.Read(); err == nil {
		return fmt.Sprintf("packet %q", p)
	}
	return connectionClosed
}

// connectionClosed is what a client gets when the proxy has closed its connection.
const connectionClosed = "the connection is closed"

// sendFile sends a file and reads the result behind it.
func (c *scriptClient) sendFile(lines []string) ([][]byte, error) {
	for _, line := range lines {
		c.conn.Conn.WritePacket([]byte(line + "\n"))
	}
	c.conn.Conn.WritePacket(nil)
	if err := c.conn.Conn.Flush(); err != nil {
		return nil, err
	}
	p, err := c.conn.Read()
	return [][]byte{p}, err
}
