package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// The picture's measures in pixels.
const (
	plotWidth  = 720
	plotHeight = 360
	plotLeft   = 80  // left of the area of the data
	plotRight  = 190 // right of it, for the legend
	plotTop    = 40
	plotBottom = 50
)

// colours are told apart by people who see few of them, too.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// drawing is an SVG picture in the making.
type drawing struct{ b strings.Builder }

func newDrawing(title string) *drawing {
	d := new(drawing)
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(&d.b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, plotHeight)
	d.text(plotWidth/2, 22, "middle", title)
	return d
}

func (d *drawing) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

func (d *drawing) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func (d *drawing) rect(x, y, width, height float64, colour string) {
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, width, height, colour)
}

func (d *drawing) legend(i int, name, colour string) {
	y := float64(plotTop + 18*i)
	d.rect(plotWidth-plotRight+14, y, 12, 12, colour)
	d.text(plotWidth-plotRight+32, y+10, "start", name)
}

func (d *drawing) String() string { return d.b.String() + "</svg>\n" }

// axis draws a vertical axis from 0 to at least highest, and gives the place of a value.
func (d *drawing) axis(highest float64, label string) (place func(v float64) float64) {
	step := niceStep(highest)
	top := step * math.Max(1, math.Ceil(highest/step-1e-9))
	place = func(v float64) float64 {
		return plotHeight - plotBottom - v/top*(plotHeight-plotBottom-plotTop)
	}
	for n := 0; float64(n)*step <= top*(1+1e-9); n++ {
		v := float64(n) * step
		d.line(plotLeft, place(v), plotWidth-plotRight, place(v), "#dddddd")
		d.text(plotLeft-6, place(v)+4, "end", strconv.FormatFloat(v, 'f', -1, 64))
	}
	fmt.Fprintf(&d.b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", plotHeight/2, html.EscapeString(label))
	return place
}

// niceStep divides 0 to highest into about five steps of a round size.
func niceStep(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	rough := highest / 5
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough {
			return m * power
		}
	}
	return 10 * power
}
