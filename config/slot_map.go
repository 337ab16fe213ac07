package config

import (
	"fmt"
	"strconv"
	"strings"
)

// slotCount is the number of slots of a rule of type slots.
const slotCount = 4096

// SlotMap gives the position of the sub-table of each slot of a rule of type slots with so many sub-tables.
func (s *Shard) SlotMap(subTables int) ([]int, error) {
	shardOf := make([]int, slotCount)
	if len(s.Slots) == 0 {
		if subTables < 1 || subTables > slotCount {
			return nil, fmt.Errorf("%d slots cannot be shared by %d sub-tables", slotCount, subTables)
		}
		for slot := range shardOf {
			shardOf[slot] = slot * subTables / slotCount
		}
		return shardOf, nil
	}
	if len(s.Slots) != subTables {
		return nil, fmt.Errorf("has %d entries for %d sub-tables: give the slots of each", len(s.Slots), subTables)
	}
	for slot := range shardOf {
		shardOf[slot] = -1
	}
	for position, text := range s.Slots {
		for part := range strings.SplitSeq(text, ",") {
			from, to, err := slotRange(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			for slot := from; slot <= to; slot++ {
				if shardOf[slot] >= 0 {
					return nil, fmt.Errorf("slot %d is given twice", slot)
				}
				shardOf[slot] = position
			}
		}
	}
	for slot, position := range shardOf {
		if position < 0 {
			return nil, fmt.Errorf("slot %d is missing: all of 0 to %d must be given", slot, slotCount-1)
		}
	}
	return shardOf, nil
}

// slotRange reads "a" or "a-b".
func slotRange(text string) (from, to int, err error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err = strconv.Atoi(first)
	if err == nil {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from < 0 || to < from || to >= slotCount {
		return 0, 0, fmt.Errorf("must be numbers or from-to of 0 to %d, separated by commas, not %.40q", slotCount-1, text)
	}
	return from, to, nil
}
