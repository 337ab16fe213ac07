package stored

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

var maria = sqltext.Mode{MariaDB: true, ServerVersion: 101119}

func TestBodies(t *testing.T) {
	variables := map[string]bool{"sql_mode": true, "sql_select_limit": true, "autocommit": true, "timestamp": true}
	for text, want := range map[string]Effects{
		"INSERT INTO audit VALUES (NEW.id, NOW())":                                    0,
		"BEGIN DECLARE n INT; SET n = NEW.a + 1; SET NEW.b = n; END":                  0,
		"BEGIN IF @quiet IS NULL THEN UPDATE t SET sql_mode = 1, a = @x; END IF; END": 0,
		"UPDATE t SET a = 1 WHERE b = @x":                                             0,
		"select `t`.`a` AS `a` from `t` where (`t`.`b` = upper('set @x = 1'))":        0,
		"SET @x = 1": UserVariables,
		"BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND SET @done = 1; END": UserVariables,
		"BEGIN SET NEW.a = 1, @x = 2; END":                                UserVariables,
		"SELECT a, b INTO v, @x FROM t":                                   UserVariables,
		"SELECT a INTO @y FROM t":                                         UserVariables,
		"SELECT (@n := @n + 1) FROM t":                                    UserVariables,
		"CALL p(@x)":                                                      UserVariables,
		"SET sql_select_limit = 1":                                        State,
		"SET NEW.a = 1, `sql_mode` = ''":                                  State,
		"SET @@sql_mode = ''":                                             State,
		"SET SESSION whatever = 1":                                        State,
		"SET NAMES latin1":                                                State,
		"BEGIN DECLARE s VARCHAR(9) CHARACTER SET utf8mb4; SET s = 'a'; END": 0,
		"CREATE TEMPORARY TABLE x (a INT)":                                   State,
		"DO GET_LOCK('a', 1)":                                                State,
		"DO `get_lock`('a', 1)":                                              State,
		"DO RELEASE_LOCK('a')":                                               0,
		"SET ſql_mode = ''":                                                  State, "BEGIN DECLARE día INT; SET día = 1; END": 0, "SET `sql_módé` = ''": State,
		"SELECT NEXT VALUE FOR s":                  State,
		"RETURN nextval(s)":                        State,
		"RETURN s.nextval":                         State,
		"select last_insert_id() AS `id`":          LastInsertID,
		"select @@identity":                        LastInsertID,
		"select last_insert_id(5) AS `id`":         LastInsertID | State,
		"select `last_insert_id`(5)":               LastInsertID | State,
		"select `last_insert_id`()":                LastInsertID,
		"select @@`identity`":                      LastInsertID,
		"select @@session . `last_insert_id`":      LastInsertID,
		"select @@global.identity":                 0,
		"select @@no_identity":                     0,
		"BEGIN PREPARE s FROM 'x'; EXECUTE s; END": UserVariables | State | LastInsertID,
		"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION GET DIAGNOSTICS CONDITION 1 @why = MESSAGE_TEXT; INSERT INTO t VALUES (1); END": UserVariables,
		"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION CALL p(@out); INSERT INTO t VALUES (1); END":                                    UserVariables,
		"CALL p(CAST(NEW.a AS CHAR), @out)":                                  UserVariables,
		"SET NEW.n = NEW.a IS NULL, @k = 2":                                  UserVariables,
		"SET NEW.n = NEW.a IS NULL, sql_mode = ''":                           State,
		"SET NEW.n = CASE WHEN a THEN b ELSE c END, @k = 2":                  UserVariables,
		"SET NEW.n = CASE WHEN a THEN b ELSE c END, SESSION sql_mode = ''":   State,
		"BEGIN SET NEW.n = 1; INSERT INTO t (a, b) VALUES (1, DEFAULT); END": 0,
		"":          Unknown,
		"SELECT 'a": Unknown,
	} {
		if got := read(text, maria, variables).effects; got != want {
			t.Errorf("%q has effects %b, want %b", text, got, want)
		}
	}
}

// Calls of what may be stored are found however they are written, and what is none is not taken for one.
func TestCalls(t *testing.T) {
	for name, want := range map[string]string{"f": "f", "`f`": "f", "db.f": "f", "`db`.`f`": "f", "db . `f`": "f"} {
		for _, c := range []struct{ text, want string }{
			{"SET NEW.x = " + name + "()", want},
			{"RETURN 1 + " + name + " (2)", want},
			{"CALL " + name, want},
			{"BEGIN CALL " + name + "; END", want},
			{"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION CALL " + name + "; SET NEW.x = 1; END", want},
			{"BEGIN CALL " + name + "(n, abs(-1)); SET n = 1; END", want},
			{"INSERT INTO " + name + " (a) VALUES (1)", ""},
			{"SELECT a FROM " + name + " WHERE a IN (1)", ""},
		} {
			if got := strings.Join(slices.Compact(read(c.text, maria, nil).calls), " "); got != c.want {
				t.Errorf("%s calls %q, want %q", c.text, got, c.want)
			}
		}
	}
}

// catalog makes Objects of definitions: kind, schema, name, text.
func catalog(rights []right, definitions ...[4]string) *Objects {
	var objects []object
	for _, d := range definitions {
		objects = append(objects, object{kind: d[0], schema: fold(d[1]), name: fold(d[2]), body: read(d[3], maria, map[string]bool{})})
	}
	return build(objects, asked{databases: []string{"a", "b", "mysql"}, rights: rights})
}

var allRights = []right{{"", "TRIGGER"}, {"", "SHOW_ROUTINE"}}

func TestReach(t *testing.T) {
	o := catalog(allRights,
		[4]string{"trigger", "a", "logged", "INSERT INTO audit VALUES (1)"},
		[4]string{"trigger", "a", "counted", "SET @n = @n + 1"},
		[4]string{"trigger", "b", "chained", "INSERT INTO a.counted VALUES (1)"},
		[4]string{"trigger", "b", "elsewhere", "INSERT INTO counted VALUES (1)"},
		[4]string{"FUNCTION", "a", "locks", "RETURN GET_LOCK('x', 1)"},
		[4]string{"FUNCTION", "a", "plain", "RETURN 1"},
		[4]string{"FUNCTION", "a", "outer_locks", "RETURN locks() + plain()"},
		[4]string{"FUNCTION", "a", "counts", "BEGIN INSERT INTO counted VALUES (1); RETURN 1; END"},
		[4]string{"view", "a", "v", "select `a`.`outer_locks`() AS `x`"},
		[4]string{"view", "a", "w", "select `v`.`x` AS `x` from `a`.`v`"},
		[4]string{"view", "a", "cv", "select * from `a`.`counted`"},
		[4]string{"view", "a", "clean", "select * from `a`.`logged`"},
		[4]string{"view", "a", "fé", "select `a`.`locks`() AS `x`"},
	)
	for _, c := range []struct {
		text, db string
		writes   bool
		want     Effects
	}{
		{"INSERT INTO logged VALUES (1)", "a", true, 0},
		{"INSERT INTO counted VALUES (1)", "a", true, UserVariables},
		{"insert into `COUNTED` values (1)", "A", true, UserVariables},
		{"SELECT * FROM counted", "a", false, 0},
		{"INSERT INTO counted VALUES (1)", "b", true, 0},
		{"INSERT INTO a.counted VALUES (1)", "b", true, UserVariables},
		{"INSERT INTO `a` . `counted` VALUES (1)", "", true, UserVariables},
		{"INSERT INTO chained VALUES (1)", "b", true, UserVariables},
		{"INSERT INTO elsewhere VALUES (1)", "b", true, 0},
		{"SELECT plain()", "a", false, 0},
		{"SELECT outer_locks()", "a", false, State},
		{"SELECT counts()", "a", false, UserVariables},
		{"SELECT * FROM v", "a", false, State},
		{"SELECT * FROM w", "a", false, State},
		{"SELECT * FROM cv", "a", false, 0},
		{"UPDATE cv SET a = 1", "a", true, UserVariables},
		{"INSERT INTO clean VALUES (1)", "a", true, 0},
		{"SELECT 'counted', 'v'", "a", false, 0},
		{"SELECT * FROM fe", "a", false, State}, // as the servers compare names
		{"SELECT * FROM `é`", "b", false, UserVariables | State},
		{"SELECT 'a", "a", false, Unknown},
	} {
		// The view of a name beyond ASCII stands for any name: it is looked at on its own.
		objects := o
		if c.text != "SELECT * FROM fe" && c.text != "SELECT * FROM `é`" {
			objects = without(o, wide)
		}
		if got := objects.Reach(c.text, c.db, maria, c.writes); got != c.want {
			t.Errorf("%s in %q: %b, want %b", c.text, c.db, got, c.want)
		}
	}
	if got := (*Objects)(nil).Reach("SELECT 1", "a", maria, false); got != Unknown {
		t.Errorf("of a server of which nothing is known: %b", got)
	}
	if catalog(allRights, [4]string{"trigger", "a", "logged", "INSERT INTO audit VALUES (1)"}).Plain() == false {
		t.Error("a harmless trigger is not plain")
	}
}

// What has effects in the servers' own databases is reached by those only who name these, or are in one.
func TestPlainOutside(t *testing.T) {
	own := [4]string{"PROCEDURE", "mysql", "AddGeometryColumn", "BEGIN SET @qwe = 'x'; PREPARE ls FROM @qwe; EXECUTE ls; END"}
	for _, c := range []struct {
		name string
		o    *Objects
		want bool
	}{
		{"nothing known", nil, false},
		{"a server that does not tell", Hidden(), false},
		{"nothing at all", catalog(allRights), true},
		{"a procedure of the server's own", catalog(allRights, own), true},
		{"a harmless trigger, too", catalog(allRights, own, [4]string{"trigger", "a", "logged", "INSERT INTO audit VALUES (1)"}), true},
		{"a trigger, too", catalog(allRights, own, [4]string{"trigger", "a", "counted", "SET @n = @n + 1"}), false},
		{"a view over a function of the server's own", catalog(allRights, [4]string{"FUNCTION", "mysql", "f", "RETURN @x := 1"},
			[4]string{"view", "a", "v", "select `mysql`.`f`() AS `x`"}), false},
		{"a name beyond ASCII", catalog(allRights, [4]string{"FUNCTION", "é", "f", "RETURN @x := 1"}), false},
		{"triggers that are not seen", catalog(nil, own), false},
		{"a name in a definition", catalog(allRights, own).Amended("CREATE VIEW v AS SELECT f()", "a", maria), false},
	} {
		if got := c.o.PlainOutside(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if catalog(allRights, own).Plain() {
		t.Error("the procedure has no effects")
	}
}

func without(o *Objects, name string) *Objects {
	c := *o
	c.byName = make(map[string][]entry)
	for n, list := range o.byName {
		if n != name {
			c.byName[n] = list
		}
	}
	return &c
}

// What the account cannot see may do anything.
func TestBlind(t *testing.T) {
	some := []right{{"a", "TRIGGER"}, {"a", "SELECT"}}
	o := catalog(some,
		[4]string{"view", "a", "hidden", ""}, [4]string{"view", "a", "calls", "select `a`.`nobody_knows`()"},
		[4]string{"FUNCTION", "a", "writes", "BEGIN INSERT INTO x VALUES (1); RETURN 1; END"}, [4]string{"FUNCTION", "a", "reads", "RETURN 1"})
	for _, c := range []struct {
		text, db string
		writes   bool
		want     Effects
	}{
		{"SELECT * FROM t", "a", false, 0}, {"INSERT INTO t VALUES (1)", "a", true, 0}, {"SELECT reads()", "a", false, 0},
		{"INSERT INTO t VALUES (1)", "b", true, Unknown}, {"INSERT INTO b.t VALUES (1)", "a", true, Unknown}, {"SELECT * FROM b.t", "a", false, 0},
		{"SELECT * FROM hidden", "a", false, Unknown}, {"SELECT * FROM calls", "a", false, Unknown}, {"SELECT writes()", "a", false, Unknown},
	} {
		if got := o.Reach(c.text, c.db, maria, c.writes); got != c.want {
			t.Errorf("%s in %q: %b, want %b", c.text, c.db, got, c.want)
		}
	}
	if len(o.Blind) != 3 {
		t.Errorf("lacks %q", o.Blind)
	}
}

// account is a server that shows one account some rows.
type account struct{ rows [][]string }

func (a account) Rows(sql string, columns int, row func([]string)) error {
	for _, r := range a.rows {
		if strings.Contains(sql, "SCHEMATA") && columns == len(r) {
			row(slices.Clone(r))
		}
	}
	if columns == 1 {
		row([]string{a.rows[0][1]}) // the last one tells what a fresh session is like
	}
	return nil
}

// Of what two accounts see all counts, the definition of who sees one, and what neither sees may do anything. A fresh session is as that
// of the account of statements.
func TestAskBoth(t *testing.T) {
	writes := "SET @x = 1"
	clients := account{[][]string{
		{"database", "a", "", "", ""}, {"database", "ks_meta", "", "", ""}, {"database", "b", "", "", ""}, {"right", "b", "TRIGGER", "", ""},
		{"view", "a", "known", "", ""}, {"view", "a", "hidden", "", ""}, {"view", "b", "theirs", "select 1", ""}, {"trigger", "b", "t", writes, ""}, {"FUNCTION", "a", "f", "", ""},
	}}
	own := account{[][]string{
		{"database", "a", "", "", ""}, {"database", "c", "", "", ""}, {"right", "a", "TRIGGER", "", ""}, {"right", "", "SHOW_ROUTINE", "", ""},
		{"view", "a", "known", "select 1", ""}, {"view", "a", "hidden", "", ""}, {"view", "b", "theirs", "", ""}, {"FUNCTION", "a", "f", "RETURN 1", ""}, {"trigger", "a", "t", writes, ""}, {"trigger", "a", "t", writes, ""},
	}}
	for name, m := range map[string]sqltext.Mode{"MariaDB": maria, "MySQL": {ServerVersion: 90000}} {
		o, err := AskBoth(clients, own, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			text, db string
			writes   bool
			want     Effects
		}{
			{"SELECT * FROM known", "a", false, 0}, {"SELECT * FROM hidden", "a", false, Unknown}, {"SELECT * FROM theirs", "b", false, 0}, {"SELECT f()", "a", false, 0},
			{"INSERT INTO t VALUES (1)", "a", true, UserVariables}, {"INSERT INTO t VALUES (1)", "b", true, UserVariables}, {"INSERT INTO other VALUES (1)", "a", true, 0},
			{"INSERT INTO t VALUES (1)", "c", true, Unknown},
		} {
			if got := o.Reach(c.text, c.db, m, c.writes); got != c.want {
				t.Errorf("%s: %s in %q: %b, want %b", name, c.text, c.db, got, c.want)
			}
		}
		if o.Fresh != "a" || len(o.Blind) != 2 {
			t.Errorf("%s: fresh %q, lacks %q", name, o.Fresh, o.Blind)
		}
	}
}

// Until the server has been asked again, what a definition names may do anything, and what reaches it, too.
func TestAmended(t *testing.T) {
	o := catalog(allRights, [4]string{"FUNCTION", "a", "f", "RETURN 1"}, [4]string{"view", "a", "v", "select `a`.`f`()"})
	if !o.Plain() {
		t.Fatal("there are effects")
	}
	changed := o.Amended("CREATE OR REPLACE FUNCTION f() RETURNS INT RETURN @x := 1", "a", maria)
	for text, want := range map[string]Effects{"SELECT f()": Unknown, "SELECT * FROM v": Unknown, "SELECT g()": 0} {
		if got := changed.Reach(text, "a", maria, false); got != want {
			t.Errorf("%s: %b, want %b", text, got, want)
		}
	}
	if !changed.Covers(o) || o.Covers(changed) {
		t.Error("what is known now does not cover what was known before alone")
	}
}
