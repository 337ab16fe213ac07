import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** Has an e-mail address that nobody else has. */
@Entity
@Table(name = "members")
class Member {
  @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
  @Column(length = 200, nullable = false, unique = true) String email;
  @Column(length = 100, nullable = false) String name;
  @Column(nullable = false) int visits;

  Member() {}

  Member(String email, String name) {
    this.email = email;
    this.name = name;
  }

  @Override
  public String toString() {
    return id + " " + email + " " + name + " " + visits;
  }
}
