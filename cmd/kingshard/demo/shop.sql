-- The demo's shop. It is plain SQL: given to one server it makes the same tables, unsharded, with the same rows.

CREATE TABLE products (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(8,2) NOT NULL);
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE users (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, country CHAR(2) NOT NULL, joined DATE NOT NULL);
CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL, product_id INT NOT NULL, quantity INT NOT NULL, amount DECIMAL(8,2) NOT NULL, KEY (user_id));
CREATE TABLE events (id BIGINT AUTO_INCREMENT PRIMARY KEY, day DATE NOT NULL, user_id BIGINT NOT NULL, page VARCHAR(40) NOT NULL, KEY (day));

INSERT INTO products (id, name, price) VALUES
  (1, 'Teapot', 24.90), (2, 'Cup', 6.50), (3, 'Green tea, 100 g', 8.20), (4, 'Black tea, 100 g', 7.40), (5, 'Kettle', 39.00);

INSERT INTO countries (code, name) VALUES ('at', 'Austria'), ('cn', 'China'), ('de', 'Germany'), ('jp', 'Japan');

INSERT INTO users (id, name, country, joined) VALUES
  (1, 'Anna', 'de', '2025-03-11'), (2, 'Bao', 'cn', '2025-04-02'), (3, 'Chiyo', 'jp', '2025-04-19'), (4, 'Dieter', 'de', '2025-06-30'),
  (5, 'Eva', 'at', '2025-07-07'), (6, 'Fang', 'cn', '2025-09-01'), (7, 'Gustav', 'at', '2025-10-12'), (8, 'Hana', 'jp', '2025-10-30'),
  (9, 'Ida', 'de', '2025-11-23'), (10, 'Jun', 'cn', '2025-12-24'), (11, 'Karl', 'de', '2026-01-08'), (12, 'Lin', 'cn', '2026-02-17');

INSERT INTO orders (id, user_id, product_id, quantity, amount) VALUES
  (1001, 1, 1, 1, 24.90), (1002, 1, 3, 2, 16.40), (1003, 2, 4, 5, 37.00), (1004, 3, 3, 3, 24.60), (1005, 4, 2, 6, 39.00),
  (1006, 5, 5, 1, 39.00), (1007, 5, 4, 1, 7.40), (1008, 6, 1, 2, 49.80), (1009, 8, 3, 10, 82.00), (1010, 8, 2, 2, 13.00),
  (1011, 9, 2, 4, 26.00), (1012, 10, 4, 3, 22.20), (1013, 11, 5, 1, 39.00), (1014, 11, 1, 1, 24.90), (1015, 12, 3, 4, 32.80),
  (1016, 3, 2, 2, 13.00);

INSERT INTO events (id, day, user_id, page) VALUES
  (1, '2026-01-03', 1, '/'), (2, '2026-01-03', 1, '/teapot'), (3, '2026-01-19', 8, '/'), (4, '2026-02-01', 3, '/green-tea'),
  (5, '2026-02-14', 5, '/'), (6, '2026-02-14', 5, '/kettle'), (7, '2026-03-08', 11, '/'), (8, '2026-03-21', 12, '/green-tea'),
  (9, '2026-04-01', 2, '/'), (10, '2026-04-05', 6, '/teapot'), (11, '2026-05-05', 9, '/'), (12, '2026-05-06', 9, '/cup'),
  (13, '2026-06-10', 4, '/'), (14, '2026-06-11', 10, '/black-tea'), (15, '2026-06-30', 7, '/');
