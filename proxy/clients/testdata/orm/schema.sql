CREATE TABLE users (
  id BIGINT NOT NULL,
  name VARCHAR(100) NOT NULL,
  email VARCHAR(200) NOT NULL,
  country VARCHAR(2) NOT NULL,
  balance DECIMAL(12,2) NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY users_country_name (country, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE orders (
  id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  status VARCHAR(10) NOT NULL,
  amount DECIMAL(12,2) NOT NULL,
  created DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY orders_user_id (user_id),
  KEY orders_created (created)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
