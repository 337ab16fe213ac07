# What the shop holds, and how its rows are written down.
module Data
  NAMES = [
    "Ana", "Łukasz", "Zoë", "O'Brien", "Ömer", "maria", "Maria", "Élodie", "Bob", "Çağla", "Straße", "Strasse", "İpek", "Jürgen", "安娜", "ana",
    "Ωmega", "Ivan", "zoe", "Back\\slash", "Tim 😀", "%percent", "Per_cent", "Nora", "Olaf", "Quentin"
  ].freeze
  COUNTRIES = %w[DE FR PL].freeze
  STATUSES = %w[new paid sent].freeze

  module_function

  def money(cents)
    BigDecimal(cents) / 100
  end

  def user_id(i)
    1000 + 7 * i
  end

  def order_id(i, k)
    10 * user_id(i) + k
  end

  # Gives the columns of user i, from 1 to 26.
  def user(i)
    {
      id: user_id(i), name: NAMES[i - 1], email: "u#{i}@example.com", country: COUNTRIES[i % 3], balance: money(1025 * i),
      created: Time.utc(2024, 1, 1) + i.days + Rational(1001 * i, 1_000_000)
    }
  end

  # Gives the columns of user i's three orders.
  def orders(i)
    (1..3).map do |k|
      { id: order_id(i, k), user_id: user_id(i), status: STATUSES[(i + k) % 3], amount: money(110 * i * k + k), created: user(i)[:created] + k.hours }
    end
  end
end

def time_text(t)
  t.strftime("%Y-%m-%d %H:%M:%S.%6N")
end
