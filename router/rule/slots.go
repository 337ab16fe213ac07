package rule

import (
	"fmt"

	"kingshard/mysql/value"
)

// SlotCount is the number of slots of a rule of type slots.
const SlotCount = 4096

// Slots places a key in one of SlotCount slots, by the CRC32 of its text modulo SlotCount, and each slot on a shard. A
// key never changes its slot, so shards are split and merged by moving slots. MySQL computes the slot as
// CRC32(key) % 4096; as with CRC32, zeros before a string of digits do not count.
type Slots struct {
	spread
	shardOf [SlotCount]int32
}

// NewSlots makes the rule: shardOf[slot] is the position of the slot's shard, 0 to shards-1.
func NewSlots(shards int, shardOf []int) (*Slots, error) {
	s, err := newSpread(shards)
	if err != nil {
		return nil, err
	}
	if len(shardOf) != SlotCount {
		return nil, fmt.Errorf("%d slots are placed, not %d", len(shardOf), SlotCount)
	}
	r := &Slots{spread: s}
	for slot, position := range shardOf {
		if position < 0 || position >= shards {
			return nil, fmt.Errorf("slot %d is placed on shard %d of %d", slot, position, shards)
		}
		r.shardOf[slot] = int32(position)
	}
	return r, nil
}

// Kind is slots.
func (r *Slots) Kind() string { return "slots" }

// Slot is the slot of a key, 0 to SlotCount-1. Errors are those of Find.
func (r *Slots) Slot(v value.Value) (int, error) {
	sum, err := checksumOf("slots", v)
	return int(sum % SlotCount), err
}

// Find places a row.
func (r *Slots) Find(v value.Value) (int, error) {
	slot, err := r.Slot(v)
	if err != nil {
		return 0, err
	}
	return int(r.shardOf[slot]), nil
}
