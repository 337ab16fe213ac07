package main

import (
	"fmt"
	"time"
)

var (
	names = []string{
		"Ana", "Łukasz", "Zoë", "O'Brien", "Ömer", "maria", "Maria", "Élodie", "Bob", "Çağla", "Straße", "Strasse", "İpek", "Jürgen", "安娜", "ana",
		"Ωmega", "Ivan", "zoe", `Back\slash`, "Tim 😀", "%percent", "Per_cent", "Nora", "Olaf", "Quentin",
	}
	countries = []string{"DE", "FR", "PL"}
	statuses  = []string{"new", "paid", "sent"}
)

// User is a row of users.
type User struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	Name    string
	Email   string
	Country string
	Balance Money
	Created time.Time
	Orders  []Order
}

// Order is a row of orders.
type Order struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64
	User    *User
	Status  string
	Amount  Money
	Created time.Time
}

func userID(i int) int64     { return int64(1000 + 7*i) }
func orderID(i, k int) int64 { return userID(i)*10 + int64(k) }

// newUser gives user i, from 1 to 26, without orders.
func newUser(i int) *User {
	return &User{
		ID: userID(i), Name: names[i-1], Email: fmt.Sprintf("u%d@example.com", i), Country: countries[i%3], Balance: Money(1025 * i),
		Created: time.Date(2024, 1, 1+i, 0, 0, 0, 1001*i*1000, time.UTC),
	}
}

// newOrders gives user i's three orders.
func newOrders(i int) []Order {
	var orders []Order
	for k := 1; k <= 3; k++ {
		orders = append(orders, Order{
			ID: orderID(i, k), UserID: userID(i), Status: statuses[(i+k)%3], Amount: Money(110*i*k + k),
			Created: newUser(i).Created.Add(time.Duration(k) * time.Hour),
		})
	}
	return orders
}

const timeFormat = "2006-01-02 15:04:05.000000"

func (u User) String() string {
	return fmt.Sprintf("%d %s %s %s %s %s", u.ID, u.Name, u.Email, u.Country, u.Balance, u.Created.Format(timeFormat))
}

func (o Order) String() string {
	return fmt.Sprintf("%d %d %s %s %s", o.ID, o.UserID, o.Status, o.Amount, o.Created.Format(timeFormat))
}
