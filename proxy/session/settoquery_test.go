package session_test

import "testing"

// TestSetToQuery: variables are set to what queries of all shards give, and have the types of these.
func TestSetToQuery(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{
			"SET @z = (SELECT MAX(n) FROM users)",
			"SET @z := (SELECT COUNT(*) FROM users) + 1, @y = 'x', @x = (SELECT name FROM users WHERE id = 7)",
			"SET @z = (SELECT price FROM users ORDER BY price DESC LIMIT 1), @y = (SELECT MIN(d) FROM users), @x = (SELECT MAX(f) FROM users)",
			"SET @z = (SELECT n FROM users WHERE id = -1)",
			"SET @z = EXISTS (SELECT 1 FROM orders WHERE amount > 100)",
			"SET @z = (SELECT n FROM users)",
			"SET @z = (SELECT nothing FROM users)",
			"SET @z = (SELECT SUM(amount) FROM orders JOIN users ON users.n = orders.amount)",
		} {
			s.both(t, sql, "")
			s.both(t, "SELECT ROW_COUNT()", "")
			s.both(t, "SELECT @z, @y, @x", "")
			s.both(t, "SELECT id, @z, @y FROM users WHERE n >= @z OR @x = name OR id = 3 ORDER BY id", "")
		}
	})
}
