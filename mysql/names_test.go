package mysql

import "testing"

func TestNamesAreTheManuals(t *testing.T) {
	for got, want := range map[string]string{
		(ClientProtocol41 | ClientDeprecateEOF).String():              "CLIENT_PROTOCOL_41|CLIENT_DEPRECATE_EOF",
		ClientRememberOptions.String():                                "CLIENT_REMEMBER_OPTIONS",
		Capability(0).String():                                        "",
		(ServerStatusInTrans | ServerSessionStateChanged).String():    "SERVER_STATUS_IN_TRANS|SERVER_SESSION_STATE_CHANGED",
		ServerStatusNoGoodIndexUsed.String():                          "SERVER_QUERY_NO_GOOD_INDEX_USED",
		Status(1 << 2).String():                                       "",
		ComQuery.String():                                             "COM_QUERY",
		ComStmtExecute.String():                                       "COM_STMT_EXECUTE",
		ComClone.String():                                             "COM_CLONE",
		Command(0x21).String():                                        "COM_0x21",
		Command(0xff).String():                                        "COM_0xff",
		ClientSide.String() + " " + BackendSide.String():              "client backend",
		(&ConnError{BackendSide, "read", ErrPacketTooLarge}).Error():  "backend read: packet larger than max_allowed_packet",
		(&SQLError{Code: 1064, State: "42000", Message: "m"}).Error(): "ERROR 1064 (42000): m",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(commandNames) != CommandsMax || int(ComClone) != CommandsMax-1 {
		t.Error("CommandsMax is not the number of commands")
	}
	seen := map[string]bool{}
	for i := range CommandsMax {
		name := Command(i).String()
		if name == "" || seen[name] {
			t.Errorf("command %d is called %q", i, name)
		}
		seen[name] = true
	}
	if !(ClientSSL | ClientCompress).Has(ClientSSL) || ClientSSL.Has(ClientSSL|ClientCompress) {
		t.Error("Has must ask for every flag")
	}
}

func TestNewSQLErrorKnowsStates(t *testing.T) {
	for _, test := range []struct {
		code  uint16
		state string
	}{{ERAccessDenied, "28000"}, {ERParse, "42000"}, {ERUnknown, "HY000"}, {60000, "HY000"}, {ERLockDeadlock, "40001"}} {
		if e := NewSQLError(test.code, "100%"); e.State != test.state || e.Message != "100%" {
			t.Errorf("%d: %+v", test.code, e)
		}
	}
	if e := NewSQLError(ERUnknown, "node %s", "n1"); e.Message != "node n1" {
		t.Error(e.Message)
	}
	for code, state := range sqlStates {
		if len(state) != 5 || state == "HY000" {
			t.Errorf("%d has state %q", code, state)
		}
	}
}
