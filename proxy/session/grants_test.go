package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Every way to ask for one's own rights gives what SHOW GRANTS gives, as text and prepared, and never the hash of a password.
func TestShowGrantsOfOneself(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			_, c := namesRig(t, kind)
			want := metadataShown(must(t, c, "SHOW GRANTS"))
			if !strings.Contains(want, "GRANT ") {
				t.Fatal(want)
			}
			forms := []string{
				"SHOW GRANTS", "SHOW GRANTS FOR CURRENT_USER", "SHOW GRANTS FOR CURRENT_USER()", "show grants for current_user ( )", "SHOW /* c */ GRANTS FOR CURRENT_USER ( ) ;", "SHOW GRANTS FOR app", "SHOW GRANTS FOR 'app'", "SHOW GRANTS FOR `app`@`%`",
				"SHOW GRANTS FOR 'app'@'%'", "SHOW GRANTS FOR \"app\"@\"%\"", "SHOW GRANTS FOR app@'127.0.0.1'", "SHOW GRANTS FOR 'app'@127.0.0.1",
			}
			if kind == mysqltest.MySQL9 {
				must(t, c, "CREATE ROLE IF NOT EXISTS reader")
				forms = append(forms, "SHOW GRANTS FOR CURRENT_USER() USING reader", "SHOW GRANTS FOR CURRENT_USER USING 'reader'@'%'", "SHOW GRANTS FOR app@'%' USING reader")
			}
			for _, sql := range forms {
				got, err := c.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				shown := metadataShown(got)
				if strings.Contains(sql, "USING") && got.Err != nil && got.Err.Code == 3530 {
					continue // the role is not granted to the account: what the server says of CURRENT_USER()
				}
				if shown != want {
					t.Errorf("%s: %s instead of %s", sql, shown, want)
				}
				st, err := c.Prepare(sql)
				if err != nil {
					t.Errorf("prepare %s: %v", sql, err)
					continue
				}
				for range 2 {
					if got, err = st.Execute(); err != nil {
						t.Fatal(sql, err)
					}
					if shown := metadataShown(got); shown != want {
						t.Errorf("execute %s: %s instead of %s", sql, shown, want)
					}
				}
			}
			for _, sql := range []string{"SHOW GRANTS FOR root", "SHOW GRANTS FOR 'root'@'localhost'", "SHOW GRANTS FOR nobody", "SHOW GRANTS FOR 'app'@'10.1.2.3'"} {
				got, err := c.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				if shown := metadataShown(got); strings.Contains(shown, "BY PASSWORD") || strings.Contains(sql, "nobody") && got.Err == nil || strings.Contains(sql, "10.1") && got.Err == nil {
					t.Errorf("%s: %s", sql, shown)
				}
			}
		})
	}
}
