import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;

@Entity
@Table(name = "users")
class User {
  @Id long id;
  @Column(length = 100, nullable = false) String name;
  @Column(length = 200, nullable = false) String email;
  @Column(length = 2, nullable = false) String country;
  @Column(precision = 12, scale = 2, nullable = false) BigDecimal balance;
  @Column(nullable = false) LocalDateTime created;
  @OneToMany(mappedBy = "user", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("id") List<Order> orders = new ArrayList<>();

  // A proxy, which stands for a user until one is needed, has no values in its fields: only methods load them.

  long getId() {
    return id;
  }

  String getName() {
    return name;
  }

  List<Order> getOrders() {
    return orders;
  }

  @Override
  public String toString() {
    return id + " " + name + " " + email + " " + country + " " + balance + " " + Data.TIME.format(created);
  }
}
