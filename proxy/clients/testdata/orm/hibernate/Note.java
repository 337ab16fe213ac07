import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.hibernate.annotations.PartitionKey;

/** Has the id that its table counts, and belongs to an owner, beside whom it is. */
@Entity
@Table(name = "notes")
class Note {
  @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
  @Column(nullable = false, updatable = false) @PartitionKey long owner;
  @Column(length = 100, nullable = false) String title;

  Note() {}

  Note(long owner, String title) {
    this.owner = owner;
    this.title = title;
  }

  @Override
  public String toString() {
    return id + " " + owner + " " + title;
  }
}
