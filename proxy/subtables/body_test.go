package subtables

import "testing"

func TestBody(t *testing.T) {
	const text = "CREATE TABLE `v``_2024` (\n  `id` int(11) NOT NULL AUTO_INCREMENT COMMENT ' AUTO_INCREMENT=1,',\n  `p` int(11) DEFAULT 5,\n" +
		"  PRIMARY KEY (`id`),\n  KEY `p` (`p`),\n  CONSTRAINT `small` CHECK (`p` < 9),\n  CONSTRAINT `f` FOREIGN KEY (`p`) REFERENCES `q` (`id`)\n" +
		") ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COMMENT=' AUTO_INCREMENT=1'\n PARTITION BY HASH (`id`)\nPARTITIONS 4"
	const want = " (\n  `id` int(11) NOT NULL AUTO_INCREMENT COMMENT ' AUTO_INCREMENT=1,',\n  `p` int(11) DEFAULT 5,\n" +
		"  PRIMARY KEY (`id`),\n  KEY `p` (`p`),\n  CONSTRAINT `small` CHECK (`p` < 9)\n" +
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT=' AUTO_INCREMENT=1'\n PARTITION BY HASH (`id`)\nPARTITIONS 4"
	if got, ok := body(text, "v`_2024"); !ok || got != want {
		t.Errorf("%v\n got %s\nwant %s", ok, got, want)
	}
	for _, other := range []string{"", "CREATE VIEW `v` AS select 1", "CREATE TABLE \"v\" (\n  \"id\" int\n)", "CREATE TABLE `v` (\n) ENGINE=x", "CREATE TABLE `v` (\n  `id` int"} {
		if got, ok := body(other, "v"); ok {
			t.Errorf("%s: %s", other, got)
		}
	}
	if got, ok := body("CREATE TABLE `v` (\n  `id` int\n) COMMENT=' AUTO_INCREMENT=1'", "v"); !ok || got != " (\n  `id` int\n) COMMENT=' AUTO_INCREMENT=1'" {
		t.Errorf("%s", got)
	}
}

func TestForPart(t *testing.T) {
	definition := " (\n  `id$202401` int,\n  KEY `a``b$202401` (`id`),\n  KEY `own` (`id`),\n  CONSTRAINT `small$202401` CHECK (`id` < 9),\n  CONSTRAINT `t_202401_chk_1` CHECK (`id` > 1)\n) COMMENT='x$202401'"
	want := " (\n  `id$202401` int,\n  KEY `a``b$202403` (`id`),\n  KEY `own` (`id`),\n  CONSTRAINT `small$202403` CHECK (`id` < 9),\n  CONSTRAINT `t_202403_chk_1` CHECK (`id` > 1)\n) COMMENT='x$202401'"
	if got := forPart(definition, "t", "t_202401", "t_202403"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
