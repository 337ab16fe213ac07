package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// plot is a picture with the name of its file.
type plot struct {
	file, title, svg string
}

// plotted are the metrics that are drawn.
var plotted = []struct {
	metric Metric
	title  string
}{
	{QPS, "answers a second"}, {ProxyCPU, "CPU of the proxy, µs a query"}, {P999, "p99.9 latency, µs"},
}

// plots draws a family: lines where there are several values of the parameter, else bars.
func plots(family []row) []plot {
	var drawn []plot
	names := contenders(family) // in all pictures of a family a contender has the same colour
	for _, p := range plotted {
		var have []row
		for _, r := range family {
			if _, ok := r.medians[p.metric]; ok {
				have = append(have, r)
			}
		}
		xs := parameters(have)
		name := strings.ReplaceAll(family[0].family, "/", "-") + "-" + strings.NewReplacer(" ", "-", ".", "").Replace(string(p.metric)) + ".svg"
		title := family[0].family + ": " + p.title
		switch {
		case len(xs) > 1:
			drawn = append(drawn, plot{name, title, lines(title, p.title, p.metric, have, names)})
		case len(have) > 1 && p.metric != P999:
			drawn = append(drawn, plot{name, title, bars(title, p.title, p.metric, have, names)})
		}
	}
	return drawn
}

// parameters are the values of the parameter, ascending.
func parameters(rows []row) []float64 {
	var xs []float64
	for _, r := range rows {
		xs = append(xs, r.x)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

func highest(rows []row, m Metric) float64 {
	top := 0.0
	for _, r := range rows {
		top = max(top, r.medians[m])
	}
	return top
}

// contenders are those of rows, each once.
func contenders(rows []row) []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.contender) {
			names = append(names, r.contender)
		}
	}
	return names
}

func colourOf(name string, names []string) string {
	return colours[slices.Index(names, name)%len(colours)]
}

// lines draws a line for each contender. Values of the parameter are at equal distances: most of them double or quadruple.
func lines(title, label string, m Metric, rows []row, names []string) string {
	d, xs := newDrawing(title), parameters(rows)
	y := d.axis(highest(rows, m), label)
	x := func(v float64) float64 {
		width := float64(plotWidth - plotLeft - plotRight)
		return plotLeft + width*(0.5+float64(slices.Index(xs, v)))/float64(len(xs))
	}
	for _, v := range xs {
		d.text(x(v), plotHeight-plotBottom+18, "middle", strconv.FormatFloat(v, 'f', -1, 64))
	}
	d.text((plotLeft+plotWidth-plotRight)/2, plotHeight-12, "middle", rows[0].parameter)
	for i, name := range contenders(rows) {
		colour := colourOf(name, names)
		d.legend(i, name, colour)
		var points []string
		for _, r := range rows {
			if r.contender == name {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(r.x), y(r.medians[m])))
				fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(r.x), y(r.medians[m]), colour)
			}
		}
		fmt.Fprintf(&d.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
	}
	return d.String()
}

// bars draws a bar for each contender, with its value above.
func bars(title, label string, m Metric, rows []row, names []string) string {
	d := newDrawing(title)
	y := d.axis(highest(rows, m), label)
	slot := float64(plotWidth-plotLeft-plotRight) / float64(len(rows))
	for i, r := range rows {
		left := plotLeft + slot*(float64(i)+0.15)
		v := r.medians[m]
		d.rect(left, y(v), slot*0.7, y(0)-y(v), colourOf(r.contender, names))
		digits := 0
		if v < 100 {
			digits = 1
		}
		d.text(left+slot*0.35, y(v)-4, "middle", strconv.FormatFloat(v, 'f', digits, 64))
		d.legend(i, r.contender, colourOf(r.contender, names))
	}
	return d.String()
}
