package main

import (
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// shop creates, reads and changes; each of its writes is one shard's.
func shop(db *gorm.DB) error {
	for _, do := range []func(*gorm.DB) error{insert, read, aggregate, join, change, undo, duplicate, rows} {
		if err := do(db); err != nil {
			return err
		}
	}
	return nil
}

func insert(db *gorm.DB) error {
	for i := 1; i <= 20; i++ {
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(newUser(i)).Error; err != nil {
				return err
			}
			orders := newOrders(i)
			if i > 10 {
				return tx.Create(&orders).Error
			}
			for _, o := range orders {
				if err := tx.Create(&o).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return rows(db)
}

func change(db *gorm.DB) error {
	var u User
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&u, userID(6)).Error; err != nil {
			return err
		}
		u.Balance += 10000
		u.Name = "Maria II"
		return tx.Save(&u).Error
	})
	if err != nil {
		return err
	}
	if err := db.Model(&User{}).Where("id = ?", u.ID).Update("balance", gorm.Expr("balance + ?", 1)).Error; err != nil {
		return err
	}
	u = User{}
	err = db.First(&u, userID(6)).Error
	fmt.Println("changed:", u)
	return err
}

func undo(db *gorm.DB) error {
	var n int64
	count := func(db *gorm.DB) error { return db.Model(&User{}).Where("id = ?", userID(21)).Count(&n).Error }
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := errors.Join(tx.Create(newUser(21)).Error, count(tx)); err != nil {
			return err
		}
		fmt.Println("inside:", n)
		return errUndone
	})
	if !errors.Is(err, errUndone) {
		return err
	}
	err = count(db)
	fmt.Println("undone:", n)
	return err
}

func duplicate(db *gorm.DB) error {
	return refused("duplicate:", db.Create(newUser(1)).Error)
}

func remove(db *gorm.DB) error { return db.Select("Orders").Delete(&User{ID: userID(4)}).Error }

// many writes to several shards at once.
func many(db *gorm.DB) error {
	for _, do := range []func(*gorm.DB) error{remove, rows, insertMany, rows, raise, changeOrder, rows, removeNew, rows, transfers} {
		if err := do(db); err != nil {
			return err
		}
	}
	return nil
}

func insertMany(db *gorm.DB) error {
	var users []*User
	var orders []Order
	for i := 21; i <= 26; i++ {
		users = append(users, newUser(i))
		orders = append(orders, newOrders(i)...)
	}
	return db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Create(users).Error, tx.CreateInBatches(orders, 10).Error)
	})
}

func raise(db *gorm.DB) error {
	raised := db.Model(&User{}).Where("country = ?", "DE").Update("balance", gorm.Expr("balance + ?", 5))
	var sum Money
	err := db.Model(&User{}).Where("country = ?", "DE").Select("SUM(balance)").Row().Scan(&sum)
	fmt.Printf("raised: %d, %s\n", raised.RowsAffected, sum)
	return errors.Join(raised.Error, err)
}

// changeOrder changes one order and deletes another, each by its own id, which is not the key of the shards.
func changeOrder(db *gorm.DB) error {
	var o Order
	if err := db.First(&o, orderID(9, 1)).Error; err != nil {
		return err
	}
	o.Status = "returned"
	if err := db.Model(&o).Select("status").Updates(&o).Error; err != nil {
		return err
	}
	o = Order{}
	err := db.First(&o, orderID(9, 1)).Error
	fmt.Println("changed:", o)
	return errors.Join(err, db.Delete(&Order{ID: orderID(10, 3)}).Error)
}

func removeNew(db *gorm.DB) error {
	gone := db.Where("status = ?", "new").Delete(&Order{})
	fmt.Println("new ones deleted:", gone.RowsAffected)
	return gone.Error
}

func transfers(db *gorm.DB) error {
	pair := db.Where("id IN ?", []int64{userID(11), userID(13)}).Order("id").Session(&gorm.Session{})
	err := errors.Join(db.Transaction(transfer), each(pair, "transferred:", wholeUser))
	undone := db.Transaction(func(tx *gorm.DB) error { return errors.Join(transfer(tx), errUndone) })
	if !errors.Is(undone, errUndone) {
		err = errors.Join(err, undone)
	}
	err = errors.Join(err, each(pair, "not again:", wholeUser))
	var sum Money
	err = errors.Join(err, db.Model(&User{}).Select("SUM(balance)").Row().Scan(&sum))
	fmt.Println("in all:", sum)
	return err
}

// transfer moves 10 from one user to another.
func transfer(tx *gorm.DB) error {
	for _, move := range []struct {
		user   int
		amount Money
	}{{11, -1000}, {13, 1000}} {
		var u User
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&u, userID(move.user)).Error; err != nil {
			return err
		}
		if err := tx.Model(&u).Update("balance", u.Balance+move.amount).Error; err != nil {
			return err
		}
	}
	return nil
}
