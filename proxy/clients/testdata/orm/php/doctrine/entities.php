<?php
// The tables of the shop. Those of users and orders exist; the others Doctrine makes.

namespace Entity;

use Doctrine\Common\Collections\{ArrayCollection, Collection};
use Doctrine\DBAL\Platforms\AbstractPlatform;
use Doctrine\DBAL\Types\DateTimeType;
use Doctrine\ORM\Mapping as ORM;

/** Moment is a DATETIME(6): Doctrine's own type has whole seconds. */
class Moment extends DateTimeType
{
    public const NAME = 'moment';

    public function getName()
    {
        return self::NAME;
    }

    public function getSQLDeclaration(array $column, AbstractPlatform $platform)
    {
        return 'DATETIME(6)';
    }

    public function convertToDatabaseValue($value, AbstractPlatform $platform)
    {
        return $value->format(\Shop\TIME);
    }

    public function convertToPHPValue($value, AbstractPlatform $platform)
    {
        return $value === null ? null : new \DateTime($value);
    }
}

/** Columns takes the values of columns that have a property of the same name. */
trait Columns
{
    public static function of(array $columns): static
    {
        $made = new static();
        foreach ($columns as $name => $value) {
            $made->$name = $value;
        }
        return $made;
    }
}

#[ORM\Entity]
#[ORM\Table(name: 'users')]
#[ORM\Index(name: 'users_country_name', columns: ['country', 'name'])]
class User
{
    use Columns;

    #[ORM\Id, ORM\Column(type: 'bigint')]
    public $id;
    #[ORM\Column(length: 100)]
    public string $name;
    #[ORM\Column(length: 200)]
    public string $email;
    #[ORM\Column(length: 2)]
    public string $country;
    #[ORM\Column(type: 'decimal', precision: 12, scale: 2)]
    public string $balance;
    #[ORM\Column(type: Moment::NAME)]
    public \DateTime $created;
    #[ORM\OneToMany(targetEntity: Order::class, mappedBy: 'user', cascade: ['persist', 'remove'])]
    #[ORM\OrderBy(['id' => 'ASC'])]
    public Collection $orders;

    public function __construct()
    {
        $this->orders = new ArrayCollection();
    }
}

#[ORM\Entity]
#[ORM\Table(name: 'orders')]
#[ORM\Index(name: 'orders_created', columns: ['created'])]
class Order
{
    use Columns;

    #[ORM\Id, ORM\Column(type: 'bigint')]
    public $id;
    #[ORM\ManyToOne(targetEntity: User::class, inversedBy: 'orders')]
    #[ORM\JoinColumn(nullable: false)]
    public User $user;
    #[ORM\Column(length: 10)]
    public string $status;
    #[ORM\Column(type: 'decimal', precision: 12, scale: 2)]
    public string $amount;
    #[ORM\Column(type: Moment::NAME)]
    public \DateTime $created;
}

#[ORM\Entity]
#[ORM\Table(name: 'notes')]
class Note
{
    use Columns;

    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public int $id;
    #[ORM\Column(type: 'bigint')]
    public $owner;
    #[ORM\Column(length: 100)]
    public string $title;
}

#[ORM\Entity]
#[ORM\Table(name: 'members')]
class Member
{
    use Columns;

    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public int $id;
    #[ORM\Column(length: 200, unique: true)]
    public string $email;
    #[ORM\Column(length: 100)]
    public string $name;
    #[ORM\Column]
    public int $visits = 0;
}

#[ORM\Entity]
#[ORM\Table(name: 'baskets')]
class Basket
{
    use Columns;

    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public int $id;
    #[ORM\Column(length: 100)]
    public string $title;
    #[ORM\OneToMany(targetEntity: Item::class, mappedBy: 'basket', cascade: ['persist'])]
    #[ORM\OrderBy(['id' => 'ASC'])]
    public Collection $items;

    public function __construct()
    {
        $this->items = new ArrayCollection();
    }
}

#[ORM\Entity]
#[ORM\Table(name: 'items')]
class Item
{
    use Columns;

    #[ORM\Id, ORM\GeneratedValue, ORM\Column]
    public int $id;
    #[ORM\ManyToOne(targetEntity: Basket::class, inversedBy: 'items')]
    #[ORM\JoinColumn(nullable: false)]
    public Basket $basket;
    #[ORM\Column(length: 100)]
    public string $name;
}
