package differential

import (
	"fmt"
	"strings"
	"testing"
)

// TestTextsOnTablesWithRules prepares and carries out texts on tables of each place, given as literals and as values of variables. They run as on one
// server, but for what is refused by itself as well, and for texts within other statements on tables that the default node does not have whole.
func TestTextsOnTablesWithRules(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			elsewhere := map[string]bool{"h": true, "k": true, "one": true}
			var e exam
			for _, name := range []string{"h", "k", "ref", "one", "home", "loc"} {
				e.setup = append(e.setup, "CREATE TABLE "+name+" (id INT NOT NULL PRIMARY KEY, n INT)", "INSERT INTO "+name+" (id, n) VALUES (0, 3), (1, 3), (2, 3), (3, 3)")
				e.look = append(e.look, "SELECT COUNT(*), SUM(n) FROM "+name)
			}
			for _, name := range []string{"h", "k", "ref", "one", "home", "loc"} {
				for _, text := range []string{
					"SELECT COUNT(*) FROM %s", "SELECT n FROM exam.`%s` WHERE id = 1", "UPDATE %s SET n = 4 WHERE id = 1", "DELETE FROM %s WHERE id = 3", "INSERT INTO %s (id, n) VALUES (8, 8)",
					"SELECT MAX(l.n) FROM loc AS l JOIN %s AS x USING (id)", "DO (SELECT MAX(n) FROM %s)", "SET @w = (SELECT MAX(n) FROM %s)",
				} {
					text = fmt.Sprintf(text, name)
					m := ""
					if strings.HasPrefix(text, "SET") || strings.HasPrefix(text, "DO") || elsewhere[name] && strings.Contains(text, "JOIN") || name == "ref" && !strings.HasPrefix(text, "SELECT") {
						m = "?"
					}
					wrapped := "?" // as the plan of the whole has it
					if elsewhere[name] {
						wrapped = "!"
					}
					quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
					e.asked = append(e.asked, m+"PREPARE s FROM "+quoted, m+"EXECUTE s", "SET @t = "+quoted, m+"PREPARE s FROM @t", m+"EXECUTE s", m+"DEALLOCATE PREPARE s")
					if kind == "mariadb" {
						e.asked = append(e.asked, m+"EXECUTE IMMEDIATE "+quoted, m+"EXECUTE IMMEDIATE @t", m+"EXECUTE IMMEDIATE CONCAT("+quoted+", '')",
							wrapped+"SET STATEMENT max_statement_time = 9 FOR EXECUTE IMMEDIATE "+quoted, wrapped+"BEGIN NOT ATOMIC EXECUTE IMMEDIATE "+quoted+"; END")
					}
				}
			}
			e.examined(t, kind)
			t.Logf("%d statements", len(e.asked))
		})
	}
}
