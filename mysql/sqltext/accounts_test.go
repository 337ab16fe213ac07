package sqltext

import (
	"strings"
	"testing"
)

func TestAccounts(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"alter user current_user() identified by 'x'", "self"},
		{"ALTER USER IF EXISTS Current_User IDENTIFIED BY 'x'", "self"},
		{"alter user user() identified by 'own'", "self"},
		{"alter user user () discard old password", "self"},
		{"alter user a@h identified by 'own', 'b'@'%' , `c`@localhost, \"d\"", "a b c d"},
		{"alter user user identified by 'x'", "user"},
		{"create or replace user a", "a"},
		{"create user if not exists 'o\\wn'@h identified with p by 'x' default role r, s", "own s"},
		{"drop user a, b", "a b"},
		{"drop role if exists a", "a"},
		{"create role a with admin b", "a"},
		{"rename user a to b, c@h to d@h", "a b c d"},
		{"grant select (a, b), insert on own.* to c identified by 'own'", "select insert c"},
		{"grant own to c, d with admin option", "own c d"},
		{"grant proxy on own@h to c", "own c"},
		{"grant execute on procedure own.to_x to current_user", "execute self"},
		{"revoke all privileges, grant option from own, current_user()", "all grant own self"},
		{"revoke own from c", "own c"},
		{"create user ''@'h'", ""},
		{"set default role r to own, b", "own b"},
		{"set default role r for own", "own"},
		{"set default role r", "self"},
		{"alter user a registration 2 factor initiate", "a"},
		{"/*!50000 alter user */ /*!50000 own */ identified by 'x'", "own"},
	} {
		got := AccountsOf(c.sql, maria)
		list := got.Names
		if got.Self {
			list = append(list, "self")
		}
		if s := strings.Join(list, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.sql, s, c.want)
		}
	}
	if a := AccountsOf("create user ''@'h'", maria); len(a.Names) != 1 {
		t.Error("the anonymous account is none")
	}
}
