import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

/** Is in one basket. */
@Entity
@Table(name = "items")
class Item {
  @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
  @ManyToOne(fetch = FetchType.LAZY, optional = false) Basket basket;
  @Column(length = 100, nullable = false) String name;

  Item() {}

  Item(Basket basket, String name) {
    this.basket = basket;
    this.name = name;
  }
}
