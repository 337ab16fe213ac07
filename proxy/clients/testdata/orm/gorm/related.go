package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
)

// Basket has items, which refer to it.
type Basket struct {
	ID    uint64
	Title string `gorm:"size:100"`
	Items []Item
}

// Item is in one basket.
type Item struct {
	ID       uint64
	BasketID uint64
	Basket   *Basket
	Name     string `gorm:"size:100"`
}

// related makes tables of which one refers to the other.
func related(db *gorm.DB) error {
	if err := db.AutoMigrate(&Basket{}, &Item{}); err != nil {
		return err
	}
	fmt.Print("baskets:")
	for i := 1; i <= 4; i++ {
		b := Basket{Title: fmt.Sprint("basket ", i), Items: []Item{{Name: "apple"}, {Name: "pear"}}}
		if err := db.Create(&b).Error; err != nil {
			return err
		}
		fmt.Print(" ", b.ID)
	}
	fmt.Println()
	err := each(db.Preload("Items", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).Order("id"), "loaded:", filled)
	var i Item
	err = errors.Join(err, db.First(&i, 6).Error)
	i.Basket = new(Basket)
	err = errors.Join(err, db.Model(&i).Association("Basket").Find(i.Basket))
	fmt.Printf("item: %s of %s\n", i.Name, i.Basket.Title)
	var pears []Item
	err = errors.Join(err, db.Joins("Basket").Where("items.name = ?", "pear").Order("Basket.title DESC").Limit(3).Find(&pears).Error)
	var titles []string
	for _, i := range pears {
		titles = append(titles, i.Basket.Title)
	}
	fmt.Println("pears:", strings.Join(titles, "; "))
	err = errors.Join(err, refused("orphan:", db.Create(&Item{BasketID: 99, Name: "plum"}).Error), refused("parent:", db.Delete(&Basket{ID: 1}).Error))
	err = errors.Join(err, db.Select("Items").Delete(&Basket{ID: 2}).Error)
	var baskets, items int64
	err = errors.Join(err, db.Model(&Basket{}).Count(&baskets).Error, db.Model(&Item{}).Count(&items).Error)
	fmt.Printf("left: %d baskets, %d items\n", baskets, items)
	return err
}

// filled writes a basket down with what is in it.
func filled(b Basket) string {
	var parts []string
	for _, i := range b.Items {
		parts = append(parts, fmt.Sprint(i.ID, " ", i.Name))
	}
	return b.Title + ": " + strings.Join(parts, ", ")
}

// refused tells by which error a change is refused.
func refused(what string, err error) error {
	var refusal *mysql.MySQLError
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%s %w", what, err)
	}
	fmt.Println(what, "refused", refusal.Number)
	return nil
}
