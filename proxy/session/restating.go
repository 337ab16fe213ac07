package session

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// restating writes what the statements of a composed one have read into those that follow. why tells why it is composed, and divides that what was read may be quotients.
type restating struct {
	*composed
	why     string
	divides bool
}

// restate makes one of a query that is read. Servers have more digits of quotients than they show.
func restate(c *composed, why, query string) *restating {
	return &restating{c, why, strings.Contains(query, "/") || sqltext.Mentions(query, "avg")}
}

// append writes a value of a column that was read so that it goes into the target as the column's own would; target is nil where it is not known.
func (r *restating) append(b []byte, d *mysql.ColumnDefinition41, cell value.Cell, target *mysql.ColumnDefinition41) ([]byte, error) {
	if cell == nil {
		return append(b, nullLiteral...), nil
	}
	text := string(cell)
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear, mysql.TypeNewDecimal, mysql.TypeDecimal:
		if r.divides && d.OrgName == "" && strings.Contains(text, ".") && !takesNoMore(target, d.Decimals) {
			return nil, r.refused("a quotient, of which no more digits are shown: ROUND it")
		}
		if d.Flags&mysql.ZerofillFlag == 0 || target != nil && !isText(target) {
			return append(b, text...), nil
		}
	case mysql.TypeDouble:
		if !strings.ContainsAny(text, "eE") {
			text += "e0"
		}
		return append(b, text...), nil
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTime, mysql.TypeTimestamp:
		return appendTemporal(b, d, text, target), nil
	}
	switch {
	case !isText(d) || d.Type == mysql.TypeGeometry || d.Type == mysql.TypeVector:
	case d.Flags&(mysql.EnumFlag|mysql.SetFlag) != 0 && (target == nil || !isText(target)): // a number there
	case d.Type == mysql.TypeJSON && (target == nil || !isText(target)):
	case d.Type != mysql.TypeJSON && d.Charset == binaryCollation:
		if target != nil && isText(target) {
			return append(hex.AppendEncode(append(b, "X'"...), cell), '\''), nil
		}
	default:
		if charset := strings.Trim(r.client.state.Value("character_set_client"), "'"); charset != "" && !strings.EqualFold(charset, "utf8mb4") &&
			strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf || c == '?' }) {
			return nil, r.refused("texts beyond ASCII, while character_set_client is not utf8mb4")
		}
		if (target == nil || target.Charset == binaryCollation && target.Type != mysql.TypeJSON) && !sqltext.IsASCII(text) {
			return nil, r.refused("texts beyond ASCII for a column without a character set")
		}
		quoted, ok := sqltext.QuoteString(text, r.client.mode())
		if ok {
			return append(b, quoted...), nil
		}
	}
	return nil, r.refused("a value of the column " + d.Name + ", for which no literal stands there")
}

// takesNoMore reports whether a column takes so many digits behind the point at the most.
func takesNoMore(target *mysql.ColumnDefinition41, decimals uint8) bool {
	if target == nil {
		return false
	}
	switch target.Type {
	case mysql.TypeNewDecimal, mysql.TypeDecimal:
		return target.Decimals <= decimals
	}
	return plan.PlainNumber(target)
}

// appendTemporal writes a date or a time. Into a number goes that of its digits, into anything else its text.
func appendTemporal(b []byte, d *mysql.ColumnDefinition41, text string, target *mysql.ColumnDefinition41) []byte {
	if target == nil || !isText(target) && !isTemporal(target) {
		switch {
		case strings.HasPrefix(text, "0000") || strings.Contains(text, "-00"): // which the literals may not be
		case d.Type == mysql.TypeDate:
			b = append(b, "DATE"...)
		case d.Type == mysql.TypeTime:
			b = append(b, "TIME"...)
		default:
			b = append(b, "TIMESTAMP"...)
		}
	}
	return append(append(append(b, '\''), text...), '\'')
}

func isTemporal(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTime, mysql.TypeTimestamp:
		return true
	}
	return false
}

// refused refuses to go on with something.
func (r *restating) refused(what string) error {
	return newError(KSRefusedSharding, "rows that go through the proxy, with "+what+" ("+r.why+")")
}

// hoursMax is how many hours one query asks about.
const hoursMax = 1000

// oneInstant refuses TIMESTAMPs whose local time is not one instant only, as clocks were put back then. Hours are looked at, and those beside them: of these a server gives the distance.
func (r *restating) oneInstant(read *result) error {
	zone := strings.Trim(r.client.state.Value("time_zone"), "'")
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") || strings.EqualFold(zone, "UTC") {
		return nil
	}
	seen := map[string]bool{}
	var hours []string
	for k := range read.columns {
		if read.columns[k].Type != mysql.TypeTimestamp {
			continue
		}
		for _, row := range read.rows {
			if hour := string(row[k][:min(len(row[k]), len("2006-01-02 15"))]); !seen[hour] {
				seen[hour] = true
				at, err := time.Parse("2006-01-02 15", hour)
				if err != nil { // NULL, or no time at all
					continue
				}
				hours = append(hours, "UNIX_TIMESTAMP('"+at.Add(2*time.Hour).Format(time.DateTime)+"') - UNIX_TIMESTAMP('"+at.Add(-time.Hour).Format(time.DateTime)+"') <> 10800")
			}
		}
	}
	for part := range slices.Chunk(hours, hoursMax) {
		asked, err := r.run("SELECT " + strings.Join(part, " OR "))
		if err != nil {
			return err
		}
		if len(asked.rows) != 1 || string(asked.rows[0][0]) != "0" {
			return r.refused("a TIMESTAMP whose local time came twice, or near such a one: SET time_zone to an offset such as '+00:00'")
		}
	}
	return nil
}
