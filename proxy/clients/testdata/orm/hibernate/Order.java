import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDateTime;

@Entity
@Table(name = "orders")
class Order {
  @Id long id;
  @ManyToOne(fetch = FetchType.LAZY, optional = false) @JoinColumn(name = "user_id") User user;
  @Column(length = 10, nullable = false) String status;
  @Column(precision = 12, scale = 2, nullable = false) BigDecimal amount;
  @Column(nullable = false) LocalDateTime created;

  @Override
  public String toString() {
    return id + " " + user.getId() + " " + status + " " + amount + " " + Data.TIME.format(created);
  }
}
