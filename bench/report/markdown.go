package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plotFolder is where plots are, beside performance.md.
const plotFolder = "performance"

// RunFile is the name of the file with the run that performance.md shows, in the folder of the plots. There is one, of the newest release.
const RunFile = "run.jsonl"

// WriteDocuments writes performance.md of a run that Verify accepts into a folder, and its plots and the run into performance below it;
// plots that are there and are not of this run are removed. turns are those that a whole run has.
func WriteDocuments(r *Run, turns []Turn, dir string) error {
	if err := r.Verify(); err != nil {
		return err
	}
	text, files := Markdown(r, turns)
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return err
	}
	files[RunFile] = b.String()
	folder := filepath.Join(dir, plotFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range old {
		if _, ok := files[filepath.Base(path)]; !ok {
			errs = append(errs, os.Remove(path))
		}
	}
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	return errors.Join(append(errs, os.WriteFile(filepath.Join(dir, "performance.md"), []byte(text), 0o644))...)
}

// Markdown renders a run: the page, and the plots that it shows by the names of their files. Of turns the page says which the run does
// not have. A run without samples has a page that promises nothing.
func Markdown(r *Run, turns []Turn) (text string, drawn map[string]string) {
	var b strings.Builder
	drawn = make(map[string]string)
	b.WriteString("# Performance\n\nWritten by `make bench` from one run of one revision, which is in `docs/" + plotFolder + "/" + RunFile + "`; not by hand.\n\n")
	if len(r.Samples) == 0 {
		b.WriteString("There is no such run of this revision yet, so there are no figures.\n\n")
	} else {
		origin(&b, r)
	}
	if len(r.Checks) > 0 {
		b.WriteString("## Promises\n\n")
		markdownTable(&b, checkTable(r.Checks))
	}
	if len(r.Samples) > 0 {
		b.WriteString("## How to read the tables\n\n" + legend + "\n")
		for _, family := range families(r.rows(turns)) {
			markdownFamily(&b, family, drawn)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n", drawn
}

// markdownFamily writes a family's table and plots; scenarios that no contender was measured in are named below the table.
func markdownFamily(b *strings.Builder, family []row, drawn map[string]string) {
	fmt.Fprintf(b, "## %s\n\n", family[0].family)
	var measured []row
	var absent []string
	for _, x := range parameters(family) {
		var scenario []row
		for _, r := range family {
			if r.x == x {
				scenario = append(scenario, r)
			}
		}
		if slices.ContainsFunc(scenario, func(r row) bool { return r.rounds > 0 }) {
			measured = append(measured, scenario...)
		} else {
			absent = append(absent, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	if len(measured) == 0 {
		b.WriteString("Not measured in this run.\n\n")
		return
	}
	markdownTable(b, table(measured))
	if len(absent) > 0 {
		fmt.Fprintf(b, "Not measured in this run: %s %s.\n\n", family[0].parameter, strings.Join(absent, ", "))
	}
	for _, p := range plots(measured) {
		fmt.Fprintf(b, "![%s](%s/%s)\n\n", p.title, plotFolder, p.file)
		drawn[p.file] = p.svg
	}
}

const legend = `Figures are medians over the rounds, in which the contenders took turns. Client, proxy and server shared the
processors, so throughput says what is left for all three; **proxy CPU**, the processor time of the proxy's process for each
answer, is the proxy's own price and bears disturbance best. Latencies are those of the clients; in the families rate, slo and
rate-of-capacity they count from the moment at which a statement was due. Growth is the highest memory of the measured time
beyond that before it.
`

// origin says where the figures come from, and how disturbed the machine was.
func origin(b *strings.Builder, r *Run) {
	lines := [][]string{
		{"what", ""},
		{"begun", r.Started.Format("2006-01-02 15:04 MST") + fmt.Sprintf(", took %.0f minutes", r.Ended.Sub(r.Started).Minutes())},
		{"revision", r.Revision},
		{"machine", fmt.Sprintf("%d × %s, %d MiB", r.Machine.Cores, r.Machine.CPU, r.Machine.MemoryMiB)},
		{"system", "Linux " + r.Machine.Kernel + ", TCP " + cmp.Or(r.Machine.Congestion, "of unknown pace") + ", " + r.Machine.Go},
		{"programs", strings.Join(r.Versions, "; ")},
		{"asked for", "`bench " + strings.Join(r.Settings.Arguments, " ") + "`"},
		{"turns", fmt.Sprintf("%d, each behind %g s of warm-up; the tables have how many rounds of how many seconds", len(r.Samples), r.Settings.Warmup)},
	}
	sessions := "all programs in one"
	if r.Settings.Apart {
		sessions = "each program in one of its own"
	}
	lines = append(lines, []string{"sessions", sessions + "; kernel.sched_autogroup_enabled " + cmp.Or(r.Machine.Autogroup, "unknown")})
	if p := r.Pauses; p != nil {
		lines = append(lines, []string{"pauses of 1 ms or more before the run", fmt.Sprintf("%.2f %% of the processors' time, the longest %.1f ms",
			100*p.Share, p.Longest.Seconds()*1000)})
	}
	for _, d := range []struct {
		metric Metric
		title  string
	}{
		{OtherCPU, "processors used by others, %"}, {Steal, "stolen by the hypervisor, %"}, {Load, "load average before a turn"},
		{CalibrationCPU, "calibration loop, µs of CPU"}, {CalibrationWall, "calibration loop, µs of time"},
	} {
		if text := r.spread(d.metric); text != "" {
			lines = append(lines, []string{d.title, text})
		}
	}
	markdownTable(b, lines)
}

// spread gives a metric's lowest value, median and highest over all samples.
func (r *Run) spread(m Metric) string {
	var values []float64
	for _, s := range r.Samples {
		if v, ok := s.Metrics[m]; ok {
			values = append(values, v)
		}
	}
	median, ok := Median(values)
	if !ok {
		return ""
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	return fmt.Sprintf("%s; %s to %s", f(median), f(slices.Min(values)), f(slices.Max(values)))
}

// cells keeps what a cell holds from ending it, or from being HTML.
var cells = strings.NewReplacer("|", `\|`, "<", "&lt;")

// markdownTable writes a table whose first line are the titles.
func markdownTable(b *strings.Builder, lines [][]string) {
	for i, line := range lines {
		for _, cell := range line {
			fmt.Fprintf(b, "| %s ", cells.Replace(cell))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(line)) + "|\n")
		}
	}
	b.WriteString("\n")
}
