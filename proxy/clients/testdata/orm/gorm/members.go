package main

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Member has an e-mail address that nobody else has.
type Member struct {
	ID     uint64
	Email  string `gorm:"size:200;not null;uniqueIndex"`
	Name   string `gorm:"size:100;not null"`
	Visits int    `gorm:"not null"`
}

func (m Member) String() string { return fmt.Sprint(m.ID, " ", m.Email, " ", m.Name, " ", m.Visits) }

// members makes a table in which each e-mail address is there once.
func members(db *gorm.DB) error {
	if err := db.AutoMigrate(&Member{}); err != nil {
		return err
	}
	var errs error
	does := func(tx *gorm.DB) *gorm.DB {
		errs = errors.Join(errs, tx.Error)
		return tx
	}
	one := func(db *gorm.DB, column, value string) (m Member) {
		does(db.Where(column+" = ?", value).Take(&m))
		return m
	}
	there := func(email string) string {
		var n int64
		if does(db.Model(&Member{}).Where("email = ?", email).Count(&n)); n == 0 {
			return "none"
		}
		return "found"
	}
	made := []Member{{Email: "ana@example.com", Name: "Ana"}, {Email: "bob@example.com", Name: "Bob"}, {Email: "cem@example.com", Name: "Cem"}, {Email: "dan@example.com", Name: "Dan"}}
	fmt.Print("made:")
	for k := range made {
		does(db.Create(&made[k]))
		fmt.Print(" ", made[k].ID)
	}
	fmt.Println()
	fmt.Println("by e-mail:", one(db, "email", "bob@example.com"))
	fmt.Println("in capitals:", one(db, "email", "BOB@example.com"))
	fmt.Println("missing:", there("bob@example.org"))
	errs = errors.Join(errs, refused("duplicate:", db.Create(&Member{Email: "Ana@Example.com", Name: "Anna"}).Error))
	errs = errors.Join(errs, refused("several:", db.Create(&[]Member{{Email: "eve@example.com", Name: "Eve"}, {Email: "dan@example.com", Name: "Daniel"}}).Error))
	var n int64
	does(db.Model(&Member{}).Count(&n))
	fmt.Println("members:", n)
	bob := made[1]
	bob.Email, bob.Name, bob.Visits = "rob@example.com", "Robert", 1
	does(db.Save(&bob))
	fmt.Println("changed:", one(db, "email", "rob@example.com"))
	errs = errors.Join(errs, refused("taken:", db.Model(&bob).Update("email", "cem@example.com").Error))
	fmt.Println("before:", there("bob@example.com"))
	var again Member
	does(db.Where(Member{Email: "bob@example.com"}).Attrs(Member{Name: "Bobby"}).FirstOrCreate(&again))
	does(db.Where(Member{Email: "bob@example.com"}).Attrs(Member{Name: "Nobody"}).FirstOrCreate(&again))
	fmt.Println("again:", again.Email, again.Name, again.Visits)
	upserted := []Member{{Email: "rob@example.com", Name: "Rob", Visits: 5}, {Email: "eve@example.com", Name: "Eve", Visits: 1}, {Email: "bob@example.com", Name: "Bobby", Visits: 7}}
	does(db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"name", "visits"})}).Create(&upserted))
	var all []Member
	does(db.Order("email").Find(&all))
	for _, m := range all {
		fmt.Println("upserted:", m.Email, m.Name, m.Visits)
	}
	fmt.Println("named:", one(db, "name", "Eve").Email)
	err := db.Transaction(func(db *gorm.DB) error {
		m := one(db, "email", "cem@example.com")
		does(db.Model(&m).Update("email", "zoe@example.com"))
		fmt.Println("inside:", one(db, "email", "zoe@example.com").Email)
		return errUndone
	})
	if !errors.Is(err, errUndone) {
		return err
	}
	fmt.Println("undone:", one(db, "name", "Cem").Email)
	raised := does(db.Model(&Member{}).Where("email IN ?", []string{"ana@example.com", "eve@example.com"}).Update("visits", gorm.Expr("visits + 1")))
	fmt.Println("raised:", raised.RowsAffected)
	fmt.Println("deleted:", does(db.Where("email = ?", "dan@example.com").Delete(&Member{})).RowsAffected)
	var sum int64
	does(db.Model(&Member{}).Count(&n))
	does(db.Model(&Member{}).Select("SUM(visits)").Scan(&sum))
	fmt.Printf("left: %d, %d\n", n, sum)
	return errs
}
