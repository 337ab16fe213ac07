package session

import (
	"errors"

	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// dispatchAdmin answers one command of the admin port.
func (s *Session) dispatchAdmin(cmd mysql.Command, arg []byte) *endError {
	a, known := s.client.snap.Accounts.Lookup(s.client.entry.Name(), s.client.addr)
	if !known || a.Rights == 0 {
		s.client.writeError(newError(KSNoRights, "the user has no rights any more"), observe.OriginProxy)
		s.client.lastWords()
		return &endError{reason: process.EndDenied}
	}
	s.client.setAccount(a)
	s.client.more = false
	var err error
	switch cmd {
	case mysql.ComQuit:
		return errQuit
	case mysql.ComPing, mysql.ComResetConnection:
		s.client.writeOK()
	case mysql.ComInitDB:
		s.client.state.SetDB(string(arg))
		s.client.writeOK()
	case mysql.ComSetOption:
		err = s.comSetOption(arg)
	case mysql.ComStatistics:
		s.comStatistics()
	case mysql.ComProcessInfo:
		s.client.writeProcesslist(false)
	case mysql.ComQuery:
		err = s.ours().adminQuery(arg)
	default:
		err = mysql.NewSQLError(mysql.ERUnknownCom, "the admin port takes statements as text only, without parameters: COM_QUERY")
	}
	return s.client.settle(err)
}

// adminQuery runs a COM_QUERY of the admin port: one statement of the proxy's own.
func (ou ours) adminQuery(arg []byte) error {
	_, text, err := ou.client.splitAttributes(arg)
	if err != nil {
		return err
	}
	if ou.client.shared.Own == nil {
		return errors.New("no statements of the proxy's own")
	}
	r, err := ou.client.shared.Own(ou.caller(), text, ou.client.mode())
	if err != nil {
		return err
	}
	if r == nil {
		return newError(KSAdminSyntax, "the admin port takes statements about the proxy only: KS HELP lists them")
	}
	ou.writeOwn(r)
	return nil
}
