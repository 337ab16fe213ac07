package rule

import (
	"fmt"
	"strings"
	"time"
)

// moment is a date with a time, without a zone.
type moment struct {
	year, month, day     int
	hour, minute, second int
	fraction             string // digits after the point of the second, without zeros at the end
}

// parseMoment reads what MySQL reads as the same date in every mode: YYYY-MM-DD with any punctuation between, one digit
// months and days too, or YYYYMMDD; then a blank or T and hh:mm, hh:mm:ss or hh:mm:ss.ffffff, or hhmmss after YYYYMMDD.
//
// Not read, because some column would store another date: years of two digits, zero and impossible dates, offsets of time
// zones, and fractions of a day's last second, which may be rounded up.
func parseMoment(text string) (m moment, ok bool) {
	rest, ok := m.date(text)
	if !ok {
		return moment{}, false
	}
	if rest != "" && !m.time(rest) {
		return moment{}, false
	}
	if m.fraction != "" && m.hour == 23 && m.minute == 59 && m.second == 59 {
		return moment{}, false
	}
	return m, true
}

// date reads the date and gives what follows, without the blank or T between.
func (m *moment) date(text string) (rest string, ok bool) {
	if m.year, ok = digitsAt(text, 0, 4); !ok {
		return "", false
	}
	if text = text[4:]; text != "" && isDigit(text[0]) {
		return m.compact(text)
	}
	var separated bool
	if m.month, text, separated = afterPunctuation(text); !separated {
		return "", false
	}
	if m.day, text, separated = afterPunctuation(text); !separated || !m.onCalendar() {
		return "", false
	}
	if text == "" {
		return "", true
	}
	return text[1:], len(text) > 1 && (text[0] == ' ' || text[0] == 'T')
}

// compact reads MMDD or MMDDhhmmss.
func (m *moment) compact(text string) (rest string, ok bool) {
	if len(text) != 4 && len(text) != 10 || !allDigits(text) {
		return "", false
	}
	m.month, _ = digitsAt(text, 0, 2)
	m.day, _ = digitsAt(text, 2, 2)
	if len(text) == 10 {
		m.hour, _ = digitsAt(text, 4, 2)
		m.minute, _ = digitsAt(text, 6, 2)
		m.second, _ = digitsAt(text, 8, 2)
	}
	return "", m.onCalendar() && m.onClock()
}

// time reads hh:mm, hh:mm:ss or hh:mm:ss.ffffff.
func (m *moment) time(text string) bool {
	text, fraction, pointed := strings.Cut(text, ".")
	if len(text) != len("hh:mm:ss") && (pointed || len(text) != len("hh:mm")) {
		return false
	}
	var ok [3]bool
	ok[2] = true
	m.hour, ok[0] = digitsAt(text, 0, 2)
	m.minute, ok[1] = digitsAt(text, 3, 2)
	colons := text[2] == ':'
	if len(text) > len("hh:mm") {
		m.second, ok[2] = digitsAt(text, 6, 2)
		colons = colons && text[5] == ':'
	}
	if pointed && !allDigits(fraction) {
		return false
	}
	m.fraction = strings.TrimRight(fraction, "0")
	return ok == [3]bool{true, true, true} && colons && m.onClock()
}

func (m *moment) onCalendar() bool {
	if m.year < 1 || m.month < 1 || m.month > 12 || m.day < 1 {
		return false
	}
	lastDay := time.Date(m.year, time.Month(m.month+1), 0, 0, 0, 0, 0, time.UTC).Day()
	return m.day <= lastDay
}

func (m *moment) onClock() bool { return m.hour < 24 && m.minute < 60 && m.second < 60 }

// dateText is YYYY-MM-DD.
func (m *moment) dateText() string { return fmt.Sprintf("%04d-%02d-%02d", m.year, m.month, m.day) }

// text is YYYY-MM-DD hh:mm:ss, with the fraction if there is one.
func (m *moment) text() string {
	text := fmt.Sprintf("%s %02d:%02d:%02d", m.dateText(), m.hour, m.minute, m.second)
	if m.fraction != "" {
		text += "." + m.fraction
	}
	return text
}

// seconds is the moment in a zone as seconds since 1970 UTC. It is not ok where clocks are changed and the moment exists
// twice or not at all.
func (m *moment) seconds(zone *time.Location) (seconds int64, ok bool) {
	t := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.second, 0, zone)
	for _, step := range []time.Duration{-time.Hour, -30 * time.Minute, 30 * time.Minute, time.Hour} {
		if u := t.Add(step); u.Hour() == t.Hour() && u.Minute() == t.Minute() {
			return 0, false
		}
	}
	return t.Unix(), t.Hour() == m.hour && t.Minute() == m.minute
}

// afterPunctuation reads one mark of punctuation and a number of one or two digits.
func afterPunctuation(text string) (n int, rest string, ok bool) {
	if text == "" || !isPunctuation(text[0]) {
		return 0, "", false
	}
	text = text[1:]
	digits := 0
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits != 1 && digits != 2 {
		return 0, "", false
	}
	n, ok = digitsAt(text, 0, digits)
	return n, text[digits:], ok
}

// digitsAt reads a number of so many digits at an offset.
func digitsAt(text string, offset, digits int) (int, bool) {
	if len(text) < offset+digits {
		return 0, false
	}
	n, ok := parseUint(text[offset : offset+digits])
	return int(n), ok
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !isDigit(c) && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}
