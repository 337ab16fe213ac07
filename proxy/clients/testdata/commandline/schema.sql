CREATE TABLE parent (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL DEFAULT 'ä',
  emoji VARCHAR(50) COMMENT 'it''s a; comment 😀',
  qty INT, twice INT GENERATED ALWAYS AS (qty * 2) VIRTUAL,
  kept INT GENERATED ALWAYS AS (qty + 1) STORED,
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  data LONGBLOB,
  small BIT(5), price DECIMAL(20,4), ratio DOUBLE, day DATE, hour TIME(3), y YEAR, kind ENUM('a','b;c'), tags SET('x','y'),
  PRIMARY KEY (id), UNIQUE KEY name_key (name(20), emoji), FULLTEXT KEY text_key (emoji)
) ENGINE=InnoDB;
CREATE TABLE child (
  id INT NOT NULL, parent INT UNSIGNED, note TEXT,
  PRIMARY KEY (id), KEY parent_key (parent),
  CONSTRAINT child_parent FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE,
  CONSTRAINT positive CHECK (id > 0)
);
CREATE TABLE parts (id INT NOT NULL, at DATE NOT NULL) PARTITION BY RANGE (YEAR(at)) (PARTITION old VALUES LESS THAN (2020), PARTITION rest VALUES LESS THAN MAXVALUE);
CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(100));
CREATE VIEW joined AS SELECT p.id, p.name, c.note FROM parent p LEFT JOIN child c ON c.parent = p.id;
CREATE VIEW counted AS SELECT COUNT(*) AS n FROM joined;
DELIMITER $$
CREATE FUNCTION twice(a INT) RETURNS INT DETERMINISTIC
BEGIN
  -- a comment; with a semicolon
  RETURN a * 2;
END$$
CREATE PROCEDURE fill(IN n INT)
BEGIN
  DECLARE k INT DEFAULT 0;
  WHILE k < n DO
    SET k = k + 1;
    INSERT INTO child (id, parent, note) VALUES (k, 1 + k % 2, CONCAT('note ', k, ' ü 😀'));
  END WHILE;
  SELECT COUNT(*) AS filled FROM child;
END$$
CREATE TRIGGER child_insert AFTER INSERT ON child FOR EACH ROW
BEGIN
  IF NEW.id % 50 = 0 THEN
    INSERT INTO log (what) VALUES (CONCAT('child ', NEW.id));
  END IF;
END$$
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 03:00:00' DO
BEGIN
  DELETE FROM log WHERE id < 0;
END$$
DELIMITER ;
INSERT INTO parent (name, emoji, changed, data, small, price, ratio, day, hour, y, kind, tags) VALUES
  ('größe', '😀;''"\\', '2024-01-01 00:00:00', REPEAT(0x00FF0A0D1A5C2722, 1000), b'10101', -12.3456, 1e-300, '2024-02-29', '-12:34:56.789', 2024, 'b;c', 'x,y'),
  ('second', NULL, '2024-01-02 00:00:00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('large', 'x', '2024-01-03 00:00:00', REPEAT('0123456789abcdef', 1250000), b'0', 0, 0, '1000-01-01', '838:59:59', 1901, 'a', '');
INSERT INTO parts VALUES (1, '2019-12-31'), (2, '2020-01-01');
CALL fill(200);
