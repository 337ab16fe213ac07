package value

import "encoding/binary"

const (
	microsPerSecond = 1_000_000
	secondsPerDay   = 24 * 60 * 60
	dateLen         = len("2006-01-02")
)

// datetimeOrder maps a DATE, DATETIME or TIMESTAMP to a number in the same order. Zero dates and dates such as 2024-02-31
// have their place by their fields, as in the server.
func datetimeOrder(c Cell, f Format) (uint64, bool) {
	if f == BinaryRow {
		return binaryDatetime(c)
	}
	var year, month, day, clock uint64
	date, ok := c, true
	if len(c) > dateLen {
		date = c[:dateLen]
		clock, ok = clockMicros(c[dateLen+1:])
		ok = ok && c[dateLen] == ' '
	}
	ok = ok && fields(date, '-', &year, &month, &day)
	return dayOrder(year, month, day) + clock, ok && inDay(year, month, day, clock)
}

func binaryDatetime(c Cell) (uint64, bool) {
	if n := len(c); n != 0 && n != 4 && n != 7 && n != 11 {
		return 0, false
	}
	var b [11]byte
	copy(b[:], c)
	year, month, day := uint64(binary.LittleEndian.Uint16(b[:])), uint64(b[2]), uint64(b[3])
	clock := ((uint64(b[4])*60+uint64(b[5]))*60+uint64(b[6]))*microsPerSecond + uint64(binary.LittleEndian.Uint32(b[7:]))
	return dayOrder(year, month, day) + clock, inDay(year, month, day, clock)
}

// dayOrder numbers days with room for months and days that do not exist, in microseconds.
func dayOrder(year, month, day uint64) uint64 {
	return ((year*13+month)*32 + day) * secondsPerDay * microsPerSecond
}

func inDay(year, month, day, clock uint64) bool {
	return year <= 9999 && month <= 12 && day <= 31 && clock < secondsPerDay*microsPerSecond
}

// timeMicros reads a TIME: it may be negative, and longer than a day.
func timeMicros(c Cell, f Format) (int64, bool) {
	if f == BinaryRow {
		return binaryTime(c)
	}
	negative := len(c) > 0 && c[0] == '-'
	if negative {
		c = c[1:]
	}
	u, ok := clockMicros(c)
	if negative {
		return -int64(u), ok
	}
	return int64(u), ok
}

func binaryTime(c Cell) (int64, bool) {
	if n := len(c); n != 0 && n != 8 && n != 12 {
		return 0, false
	}
	var b [12]byte
	copy(b[:], c)
	days := int64(binary.LittleEndian.Uint32(b[1:]))
	seconds := days*secondsPerDay + (int64(b[5])*60+int64(b[6]))*60 + int64(b[7])
	micros := seconds*microsPerSecond + int64(binary.LittleEndian.Uint32(b[8:]))
	if b[0] != 0 {
		micros = -micros
	}
	return micros, days <= 1<<16
}

// clockMicros reads hours, minutes, seconds and up to six digits of a fraction.
func clockMicros(c []byte) (uint64, bool) {
	var hours, minutes, seconds, fraction uint64
	whole := c
	for i, d := range c {
		if d != '.' {
			continue
		}
		whole = c[:i]
		places := c[i+1:]
		var ok bool
		if fraction, ok = digits(places); !ok || len(places) > 6 {
			return 0, false
		}
		for range 6 - len(places) {
			fraction *= 10
		}
		break
	}
	if !fields(whole, ':', &hours, &minutes, &seconds) || hours > 1<<16 || minutes > 59 || seconds > 59 {
		return 0, false
	}
	return ((hours*60+minutes)*60+seconds)*microsPerSecond + fraction, true
}

// fields reads three numbers with a separator between.
func fields(c []byte, separator byte, a, b, d *uint64) bool {
	into := [3]*uint64{a, b, d}
	n, start := 0, 0
	for i := 0; i <= len(c); i++ {
		if i < len(c) && c[i] != separator {
			continue
		}
		v, ok := digits(c[start:i])
		if !ok || n == len(into) {
			return false
		}
		*into[n] = v
		n, start = n+1, i+1
	}
	return n == len(into)
}
