import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** What the shop holds. */
class Data {
  static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS");

  static final String[] NAMES = {
    "Ana", "Łukasz", "Zoë", "O'Brien", "Ömer", "maria", "Maria", "Élodie", "Bob", "Çağla", "Straße", "Strasse", "İpek", "Jürgen", "安娜", "ana",
    "Ωmega", "Ivan", "zoe", "Back\\slash", "Tim 😀", "%percent", "Per_cent", "Nora", "Olaf", "Quentin",
  };
  static final String[] COUNTRIES = {"DE", "FR", "PL"};
  static final String[] STATUSES = {"new", "paid", "sent"};

  static long userId(int i) {
    return 1000 + 7 * i;
  }

  static long orderId(int i, int k) {
    return userId(i) * 10 + k;
  }

  /** Gives user i, from 1 to 26, without orders. */
  static User user(int i) {
    User u = new User();
    u.id = userId(i);
    u.name = NAMES[i - 1];
    u.email = "u" + i + "@example.com";
    u.country = COUNTRIES[i % 3];
    u.balance = BigDecimal.valueOf(1025L * i, 2);
    u.created = LocalDateTime.of(2024, 1, 1, 0, 0).plusDays(i).plusNanos(1001000L * i);
    return u;
  }

  /** Gives the three orders of user i, who is u. */
  static List<Order> orders(int i, User u) {
    List<Order> orders = new ArrayList<>();
    for (int k = 1; k <= 3; k++) {
      Order o = new Order();
      o.id = orderId(i, k);
      o.user = u;
      o.status = STATUSES[(i + k) % 3];
      o.amount = BigDecimal.valueOf(110L * i * k + k, 2);
      o.created = u.created.plusHours(k);
      orders.add(o);
    }
    return orders;
  }
}
