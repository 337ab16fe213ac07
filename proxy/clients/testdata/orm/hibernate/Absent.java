import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** Is mapped to a table that does not exist. */
@Entity
@Table(name = "absent")
class Absent {
  @Id long id;
}
