package router

import (
	"slices"
	"testing"

	"kingshard/config"
	"kingshard/router/rule"
)

// TestStringFolds checks that the configuration takes those folds that there are.
func TestStringFolds(t *testing.T) {
	if names := rule.FoldNames(); !slices.Equal(names, config.StringFolds) {
		t.Errorf("%q, and the configuration takes %q", names, config.StringFolds)
	}
}
