import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;

/** Has items, which refer to it. */
@Entity
@Table(name = "baskets")
class Basket {
  @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
  @Column(length = 100, nullable = false) String title;
  @OneToMany(mappedBy = "basket", cascade = CascadeType.PERSIST) @OrderBy("id") List<Item> items = new ArrayList<>();

  Basket() {}

  Basket(String title, String... names) {
    this.title = title;
    for (String name : names) items.add(new Item(this, name));
  }

  // As of a user, only methods load what a proxy stands for.

  String getTitle() {
    return title;
  }
}
