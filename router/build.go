package router

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/config"
	"kingshard/router/rule"
)

// newTable makes a table of its resolved rule in the configuration.
func newTable(s *config.Shard, zone *time.Location) (*Table, error) {
	t := &Table{DB: s.DB, Name: s.Table, AutoCreate: s.AutoCreate, CrossShard: s.CrossShard, LocalUnique: s.LocalUnique(), GlobalUnique: s.GlobalUnique()}
	for _, key := range s.Key {
		t.Keys = append(t.Keys, strings.ToLower(key))
	}
	switch s.Type {
	case "reference":
		t.Kind = Reference
	case "single":
		t.Kind = Single
	}
	nodes, numbers, err := places(s)
	if err != nil {
		return nil, err
	}
	if t.Rule, err = newRule(s, len(nodes), numbers, zone); err != nil {
		return nil, err
	}
	if t.Rule, err = rule.FoldBy(t.Rule, s.Strings); err != nil {
		return nil, err
	}
	if t.Rule, err = rule.Pinned(t.Rule, pinnedTo(s.Pin, nodes)); err != nil {
		return nil, err
	}
	table, err := config.ParseNameTemplate(s.SubTable)
	if err != nil {
		return nil, err
	}
	db, err := config.ParseNameTemplate(s.SubDB)
	if err != nil {
		return nil, err
	}
	for position, node := range nodes {
		names := config.Names{DB: s.DB, Table: s.Table, Index: t.Rule.Number(position)}
		shard := Shard{Node: node, DB: db.Name(names), Table: table.Name(names)}
		if s.Tables != nil {
			shard.Table = s.Tables[position].Table
			if s.Tables[position].DB != "" {
				shard.DB = s.Tables[position].DB
			}
		}
		t.Shards = append(t.Shards, shard)
		if !slices.Contains(t.Nodes, node) {
			t.Nodes = append(t.Nodes, node)
		}
	}
	return t, t.newIndexes(s)
}

// pinnedTo gives the shards on the node of each pinned key.
func pinnedTo(pins config.Pins, nodes []string) map[string]rule.Set {
	at := map[string]rule.Set{}
	for key, node := range pins {
		for position, n := range nodes {
			if n == node {
				at[key] = append(at[key], position)
			}
		}
	}
	return at
}

// places gives the node of each shard, and for date rules the shards' numbers.
func places(s *config.Shard) (nodes []string, numbers []int, err error) {
	if strings.HasPrefix(s.Type, "date_") {
		return datePlaces(s)
	}
	for _, t := range s.Tables {
		nodes = append(nodes, t.Node)
	}
	if s.Tables != nil {
		return nodes, nil, nil
	}
	for k, node := range s.Nodes {
		count := 1
		if len(s.Locations) > 0 {
			count = s.Locations[k]
		}
		for range count {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil, nil
}

func datePlaces(s *config.Shard) (nodes []string, numbers []int, err error) {
	for k, text := range s.DateRange {
		from, to, err := config.DateRange(s.Type, text)
		if err != nil {
			return nil, nil, err
		}
		first, _ := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		numbers = append(numbers, rule.DateNumbers(s.Type, first, last)...)
		for s.Tables == nil && len(nodes) < len(numbers) {
			nodes = append(nodes, s.Nodes[k])
		}
	}
	for _, t := range s.Tables {
		nodes = append(nodes, t.Node)
	}
	if len(nodes) != len(numbers) {
		return nil, nil, fmt.Errorf("tables has %d entries for %d dates", len(nodes), len(numbers))
	}
	return nodes, numbers, nil
}

func newRule(s *config.Shard, shards int, numbers []int, zone *time.Location) (rule.Rule, error) {
	switch s.Type {
	case "hash":
		return rule.NewHash(shards)
	case "mod":
		return rule.NewMod(shards)
	case "crc32":
		return rule.NewCRC32(shards)
	case "murmur3":
		return rule.NewMurmur3(shards)
	case "slots":
		shardOf, err := s.SlotMap(shards)
		if err != nil {
			return nil, err
		}
		return rule.NewSlots(shards, shardOf)
	case "range":
		return rule.NewRange(shards, int64(s.TableRowLimit))
	case "list":
		if len(s.Values) != shards {
			return nil, fmt.Errorf("values has %d lists for %d shards", len(s.Values), shards)
		}
		return rule.NewList(s.Values)
	case "reference":
		return rule.NewReference(shards)
	case "single":
		if shards != 1 {
			return nil, fmt.Errorf("a table of type single has 1 shard, not %d", shards)
		}
		return rule.NewSingle(), nil
	}
	if s.TimeZone != "" {
		var err error
		if zone, err = config.TimeZone(s.TimeZone); err != nil {
			return nil, err
		}
	}
	return rule.NewDateRule(s.Type, numbers, zone)
}
