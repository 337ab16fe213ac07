package loadfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var tabs = Format{FieldsTerminated: "\t", Escaped: `\`, LinesTerminated: "\n", UTF8: true}

// cut shows the lines of a file that comes in pieces of n bytes.
func cut(f Format, fields int, want []int, skip uint64, file string, n int) (shown string, raw []byte, err error) {
	c := New(f, fields, want, skip)
	var b strings.Builder
	read := func() {
		for err == nil {
			var line *Line
			if line, err = c.Next(); line == nil {
				return
			}
			raw = append(raw, line.Raw...)
			if f.LinesStarting == "" && line.Begin != 0 {
				err = fmt.Errorf("the first field begins at %d", line.Begin)
			}
			for k, field := range line.Fields {
				if in := line.Raw[field.Begin:field.End]; !field.Missing && !field.Null && f.Escaped == "" && f.Enclosed == "" && string(in) != string(field.Text) {
					err = fmt.Errorf("field %d is %q, but %q is at its place", want[k], field.Text, in)
				}
			}
			fmt.Fprintf(&b, "%d", line.Number)
			for _, field := range line.Fields {
				switch {
				case field.Missing:
					b.WriteString(" -")
				case field.Null:
					b.WriteString(" NULL")
				default:
					fmt.Fprintf(&b, " %q", field.Text)
				}
			}
			b.WriteString("; ")
		}
	}
	for at := 0; at < len(file) && err == nil; at += n {
		c.Feed([]byte(file[at:min(at+n, len(file))]))
		read()
	}
	if err == nil {
		c.End()
		read()
	}
	return b.String(), raw, err
}

func TestLines(t *testing.T) {
	csv := Format{FieldsTerminated: ",", Enclosed: `"`, Escaped: `\`, LinesTerminated: "\r\n", UTF8: true}
	doubled := csv
	doubled.Escaped = `"`
	for _, c := range []struct {
		name   string
		f      Format
		skip   uint64
		file   string
		wanted string // of fields 0 and 2 of three
	}{
		{"plain", tabs, 0, "a\tb\tc\nd\te\tf\n", `1 "a" "c"; 2 "d" "f"; `},
		{"no end of line", tabs, 0, "a\tb\tc\nd\te\tf", `1 "a" "c"; 2 "d" "f"; `},
		{"empty file", tabs, 0, "", ``},
		{"empty line", tabs, 0, "\n\n", `1 "" -; 2 "" -; `},
		{"too few and too many", tabs, 0, "a\na\tb\tc\td\te\nz\tz\tz\n", `1 "a" -; 2 "a" "c"; 3 "z" "z"; `},
		{"escapes", tabs, 0, "a\\\tb\tx\t\\N\n\\n\\t\\0\\Z\\b\\r\\q\\\\\tx\t\\\n\n", `1 "a\tb" NULL; 2 "\n\t\x00\x1a\b\rq\\" "\n"; `},
		{"N among others", tabs, 0, "a\\N\tx\t\\N \n", `1 "aN" "N "; `},
		{"escape at the end", tabs, 0, "a\tx\tc\\", `1 "a" "c\\"; `},
		{"skipped", tabs, 2, "h\\\nh\nh\na\tb\tc\n", `3 "a" "c"; `},
		{"more skipped than there are", tabs, 5, "h\nh\n", ``},
		{"quotes", csv, 0, "\"a,\r\n\"\"b\",x,\"c\"\r\n\"d\"e\",x,f\"g\r\n", `1 "a,\r\n\"b" "c"; 2 "d\"e" "f\"g"; `},
		{"words", csv, 0, "NULL,x,\"NULL\"\r\n\\N,x,\"\\N\"\r\n", `1 NULL "NULL"; 2 NULL NULL; `},
		{"quotes that do not close", csv, 0, "1,x,\"a\r\nb", `1 "1" "\"a\r\nb"; `},
		{"quotes have no meaning in the rest", csv, 0, "1,x,2,\"a\r\n3,x,4\r\n", `1 "1" "2"; 2 "3" "4"; `},
		{"a part of the terminator", csv, 0, "1\r,x,2\r\r\n", `1 "1\r" "2\r"; `},
		{"quotes escape quotes", doubled, 0, `"a""b",x,"c\"` + "\r\n", `1 "a\"b" "c\\"; `},
		{"prefix", Format{FieldsTerminated: ",", LinesStarting: "xxx", LinesTerminated: "\n"}, 0, "junk xxxxa,b,c\nno\nxx xxx1,2,3\nend", `1 "xa" "c"; 2 "1" "3"; `},
		{"no lines", Format{FieldsTerminated: ","}, 0, "a,b,c,d,e,f\n,g", `1 "a" "c"; 2 "d" "f\n"; 3 "g" -; `},
		{"one terminator for both", Format{FieldsTerminated: ",", LinesTerminated: ","}, 0, "a,b,c,d,e,f,", `1 "a" "c"; 2 "d" "f"; `},
		{"quotes alone", Format{Enclosed: "'", LinesTerminated: "\n"}, 0, "'a'\n'b''c'\n", `1 "a" -; 2 "b'c" -; `},
	} {
		if err := c.f.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, n := range []int{1, 2, 3, 7, 1000} {
			got, raw, err := cut(c.f, 3, []int{0, 2}, c.skip, c.file, n)
			if err != nil || got != c.wanted {
				t.Errorf("%s in pieces of %d: %v\n got %s\nwant %s", c.name, n, err, got, c.wanted)
			}
			if c.skip == 0 && c.f.LinesStarting == "" && string(raw) != c.file {
				t.Errorf("%s: the lines are %q, the file %q", c.name, raw, c.file)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		f    Format
		want error
	}{
		{tabs, nil}, {Format{Enclosed: "'"}, nil}, {Format{LinesTerminated: "\n"}, ErrFixed},
		{Format{FieldsTerminated: ",", Enclosed: "''"}, ErrSeparator}, {Format{FieldsTerminated: ",", Escaped: "ab"}, ErrSeparator},
		{Format{FieldsTerminated: "§"}, ErrNotASCII}, {Format{FieldsTerminated: ",", LinesStarting: "\xff"}, ErrNotASCII},
	} {
		if err := c.f.Check(); err != c.want {
			t.Errorf("%+v: %v, want %v", c.f, err, c.want)
		}
	}
}

// Servers do not agree on where a line ends behind half a character.
func TestEncoding(t *testing.T) {
	for _, file := range []string{"a\tb\tc\td\xe9\ne\n", "a\\\xe9\n\tb\tc\n"} {
		if _, _, err := cut(tabs, 3, []int{0}, 0, file, 100); !errors.Is(err, ErrEncoding) {
			t.Errorf("%q: %v", file, err)
		}
		f := tabs
		f.UTF8 = false
		if _, _, err := cut(f, 3, []int{0}, 0, file, 100); err != nil {
			t.Errorf("%q in a character set of one byte: %v", file, err)
		}
	}
	if got, _, err := cut(tabs, 3, []int{0}, 0, "\xe9\tb\tc\tdé€😀\n\\é\tx\ty\n", 1); err != nil || got != `1 "\xe9"; 2 "é"; ` {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzCutter checks that neither the pieces in which a file comes nor its contents lead astray.
func FuzzCutter(f *testing.F) {
	f.Add("a\tb\tc\n", "\t", "", `\`, "\n", "", byte(3), byte(0))
	f.Add("\"a,\"\"\r\n\"b", ",", `"`, `"`, "\r\n", "x", byte(2), byte(1))
	f.Fuzz(func(t *testing.T, file, fields, enclosed, escaped, lines, starting string, n, skip byte) {
		format := Format{FieldsTerminated: fields, Enclosed: enclosed, Escaped: escaped, LinesTerminated: lines, LinesStarting: starting, UTF8: n%2 == 0}
		if format.Check() != nil || n == 0 || lines == "" && skip > 0 {
			return
		}
		want, raw, err := cut(format, int(n), []int{0, int(n) - 1}[:min(int(n), 2)], uint64(skip), file, len(file)+1)
		for _, piece := range []int{1, 2, 5} {
			got, again, err2 := cut(format, int(n), []int{0, int(n) - 1}[:min(int(n), 2)], uint64(skip), file, piece)
			if got != want || !bytes.Equal(raw, again) || !errors.Is(err2, err) {
				t.Fatalf("pieces of %d: %q %v, not %q %v", piece, got, err2, want, err)
			}
		}
		if err == nil && skip == 0 && starting == "" && string(raw) != file {
			t.Fatalf("lines %q", raw)
		}
	})
}

func BenchmarkCutter(b *testing.B) {
	chunk := bytes.Repeat([]byte("1234567\tsome name or other\t2024-01-02 03:04:05\t12.50\n"), 300)
	c := New(tabs, 4, []int{0}, 0)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		c.Feed(chunk)
		for {
			if line, err := c.Next(); line == nil || err != nil {
				break
			}
		}
	}
}

// What is put in the place of a field is that field, and no other changes.
func TestPlaces(t *testing.T) {
	csv := Format{FieldsTerminated: ",", Enclosed: `"`, Escaped: `\`, LinesStarting: ">", LinesTerminated: "\r\n", UTF8: true}
	for file, want := range map[string]string{
		"x>\"a,\r\n\"\"b\",NULL,\"c\"\r\n":    "x>7,NULL,\"c\"\r\n|x>\"a,\r\n\"\"b\",7,\"c\"\r\n|x>\"a,\r\n\"\"b\",NULL,7\r\n",
		">\\N,,\"0\"":                         ">7,,\"0\"|>\\N,7,\"0\"|>\\N,,7",
		">a\\,b,\\\"\\é,é\r\n>":               ">7,\\\"\\é,é\r\n|>a\\,b,7,é\r\n|>a\\,b,\\\"\\é,7\r\n",
		">1,2,3,4,5\r\n":                      ">7,2,3,4,5\r\n|>1,7,3,4,5\r\n|>1,2,7,4,5\r\n",
		">\"not closed\r\n,":                  ">7",
		">\"ends\"":                           ">7",
		"two >\"x\" y,\"\"\"\",\\\r\n,z,\r\n": "two >7",
	} {
		c := New(csv, 3, []int{0, 1, 2}, 0)
		c.Feed([]byte(file))
		c.End()
		line, err := c.Next()
		if err != nil || line == nil {
			t.Fatalf("%q: %v", file, err)
		}
		var got []string
		for _, f := range line.Fields {
			if !f.Missing {
				got = append(got, string(line.Raw[:f.Begin])+"7"+string(line.Raw[f.End:]))
			}
		}
		if shown := strings.Join(got, "|"); shown != want {
			t.Errorf("%q\n got %q\nwant %q", file, shown, want)
		}
	}
}
