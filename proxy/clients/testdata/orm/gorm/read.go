package main

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// rows counts.
func rows(db *gorm.DB) error {
	var users, orders int64
	err := db.Model(&User{}).Count(&users).Error
	if err == nil {
		err = db.Model(&Order{}).Count(&orders).Error
	}
	fmt.Printf("rows: %d users, %d orders\n", users, orders)
	return err
}

// each finds what a query selects and writes a line for each.
func each[T any](db *gorm.DB, what string, line func(T) string) error {
	var list []T
	err := db.Find(&list).Error
	for _, one := range list {
		fmt.Println(what, line(one))
	}
	return err
}

func wholeUser(u User) string   { return u.String() }
func wholeOrder(o Order) string { return o.String() }

func read(db *gorm.DB) error {
	var u User
	var o Order
	if err := errors.Join(db.First(&u, userID(5)).Error, db.First(&o, orderID(7, 2)).Error); err != nil {
		return err
	}
	fmt.Println("user:", u)
	if err := db.First(&User{}, 999).Error; errors.Is(err, gorm.ErrRecordNotFound) {
		fmt.Println("missing: none")
	}
	fmt.Println("order:", o)
	return errors.Join(
		each(db.Order("id").Where("id IN ?", []int64{userID(14), userID(3), 999, userID(8)}), "one of several:", wholeUser),
		pages(db),
		each(db.Order("created DESC, id DESC").Limit(3).Offset(1), "new order:", wholeOrder),
		each(db.Where("balance > ?", 100).Not(&User{Country: "DE"}).Order("balance DESC").Limit(3), "rich:", wholeUser),
		lists(db),
	)
}

func pages(db *gorm.DB) error {
	for page := range 4 {
		var users []User
		if err := db.Where(&User{Country: "FR"}).Order("name, id").Limit(3).Offset(3 * page).Find(&users).Error; err != nil {
			return err
		}
		var parts []string
		for _, u := range users {
			parts = append(parts, fmt.Sprintf("%d %s", u.ID, u.Name))
		}
		fmt.Printf("page %d of FR: %s\n", page, strings.Join(parts, "; "))
	}
	return nil
}

func lists(db *gorm.DB) error {
	var names, statuses []string
	err := errors.Join(
		db.Model(&User{}).Where("name LIKE ?", "a%").Order("id").Pluck("name", &names).Error,
		db.Model(&Order{}).Distinct().Order("status").Pluck("status", &statuses).Error,
	)
	fmt.Println("like a:", strings.Join(names, "; "))
	fmt.Println("statuses:", strings.Join(statuses, " "))
	return err
}

// figures are those of one country.
type figures struct {
	Country string
	N       int
	Total   Money
	Mean    float64
}

func aggregate(db *gorm.DB) error {
	var n int64
	var least, most Money
	err := db.Model(&User{}).Where("country = ?", "PL").Count(&n).Error
	fmt.Println("in PL:", n)
	if err == nil {
		err = db.Model(&User{}).Select("MIN(balance), MAX(balance)").Row().Scan(&least, &most)
	}
	fmt.Printf("balances: %s to %s\n", least, most)
	query := db.Model(&User{}).Select("country, COUNT(id) AS n, SUM(balance) AS total, AVG(balance) AS mean").Group("country").Order("country")
	return errors.Join(err, each(query, "country:", func(f figures) string { return fmt.Sprintf("%s %d %s %.4f", f.Country, f.N, f.Total, f.Mean) }))
}

func join(db *gorm.DB) error {
	spent := db.Model(&Order{}).Joins("JOIN users ON users.id = orders.user_id").Group("users.country").Order("users.country")
	most := db.Model(&User{}).Joins("LEFT JOIN orders ON orders.user_id = users.id").Group("users.id").Order("total DESC, users.id").Limit(3)
	return errors.Join(
		each(db.Joins("User").Where("orders.user_id = ?", userID(4)).Order("orders.id"), "order of one:",
			func(o Order) string { return o.User.Name + " " + o.String() }),
		each(db.InnerJoins("User").Order("User.name, orders.id"), "order of all:",
			func(o Order) string { return fmt.Sprintf("%s %d %s", o.User.Name, o.ID, o.Status) }),
		each(spent.Select("users.country, COUNT(orders.id) AS n, SUM(orders.amount) AS total"), "spent in:",
			func(f figures) string { return fmt.Sprintf("%s %d %s", f.Country, f.N, f.Total) }),
		each(most.Select("users.name AS country, SUM(orders.amount) AS total"), "most spent:",
			func(f figures) string { return fmt.Sprintf("%s %s", f.Country, f.Total) }),
		each(db.Preload("Orders", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).Where("country = ?", "DE").Order("id"), "loaded:", withOrders),
	)
}

// withOrders writes a user down with the ids of the orders that were loaded.
func withOrders(u User) string {
	parts := []string{u.Name}
	for _, o := range u.Orders {
		parts = append(parts, fmt.Sprint(o.ID))
	}
	return strings.Join(parts, " ")
}
