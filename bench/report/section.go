package report

import (
	"errors"
	"strings"
)

// FiguresSection is the line that the section of README.md begins with.
const FiguresSection = "<!-- written by make bench, from the run that docs/performance.md shows -->\n"

const sectionEnd = "<!-- end -->\n"

// ReplaceSection returns a document with another text in the section that is rendered from a run; begin is the line that it begins with.
func ReplaceSection(document, begin, text string) (string, error) {
	before, rest, ok := strings.Cut(document, begin)
	_, after, ended := strings.Cut(rest, sectionEnd)
	if !ok || !ended {
		return "", errors.New("there is no section for figures between the lines " + begin + "and " + sectionEnd)
	}
	return before + begin + text + sectionEnd + after, nil
}
