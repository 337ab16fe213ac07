package report

import (
	"errors"
	"strings"
)

// The lines that a section of a document is between.
const (
	sectionBegin = "<!-- written by make bench, from the run that docs/performance.md shows -->\n"
	sectionEnd   = "<!-- end -->\n"
)

// ReplaceSection returns a document with another text in the section that is rendered from a run.
func ReplaceSection(document, text string) (string, error) {
	before, rest, ok := strings.Cut(document, sectionBegin)
	_, after, ended := strings.Cut(rest, sectionEnd)
	if !ok || !ended {
		return "", errors.New("there is no section for figures between the lines " + sectionBegin + "and " + sectionEnd)
	}
	return before + sectionBegin + text + sectionEnd + after, nil
}
