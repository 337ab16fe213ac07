package main

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// Note has the id that its table counts.
type Note struct {
	ID    uint64
	Owner int64
	Title string `gorm:"size:100"`
}

func (n Note) String() string { return fmt.Sprint(n.ID, " ", n.Owner, " ", n.Title) }

// ids makes a table by GORM's own migration, and leaves the ids to it.
func ids(db *gorm.DB) error {
	if err := db.AutoMigrate(&Note{}); err != nil {
		return err
	}
	fmt.Print("made:")
	for i := int64(1); i <= 4; i++ {
		n := Note{Owner: i, Title: fmt.Sprint("note ", i)}
		if err := db.Create(&n).Error; err != nil {
			return err
		}
		fmt.Print(" ", n.ID)
	}
	fmt.Println()
	together := []Note{{Owner: 5, Title: "one"}, {Owner: 5, Title: "two"}, {Owner: 5, Title: "three"}}
	if err := db.Create(&together).Error; err != nil {
		return err
	}
	for _, n := range together {
		fmt.Println("together:", n)
	}
	var page []Note
	if err := db.Order("id DESC").Offset(1).Limit(3).Find(&page).Error; err != nil {
		return err
	}
	for _, n := range page {
		fmt.Println("page:", n)
	}
	var n Note
	err := errors.Join(db.First(&n, 2).Error, db.Model(&n).Where("owner = ?", 2).Update("title", "changed").Error)
	n = Note{}
	err = errors.Join(err, db.First(&n, 2).Error)
	fmt.Println("changed:", n)
	var left int64
	err = errors.Join(err, db.Where("owner = ?", 1).Delete(&Note{}, 1).Error, db.Model(&Note{}).Count(&left).Error)
	fmt.Println("left:", left)
	last := Note{Owner: 6, Title: "last"}
	err = errors.Join(err, db.Create(&last).Error)
	fmt.Println("next:", last.ID)
	return err
}
