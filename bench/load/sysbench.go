package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kingshard/bench/procstat"
)

// Sysbench is a closed loop by sysbench 1.0, whose scripts everybody knows.
type Sysbench struct {
	Login     Login
	Script    string // such as oltp_point_select
	Threads   int
	TableSize int // rows of sbtest1
	Prepared  bool
	Hot       bool          // rows are chosen as sysbench does by itself, a few of them very often; else all alike
	Warmup    time.Duration // rounded up to seconds, at least one
	Duration  time.Duration // measured, rounded up to seconds, at least one
	Apart     bool          // it has a session of its own
	Window    Window
}

// Run runs sysbench and gives what it measured after the warm-up, and its own CPU time of the same time. Errors that
// end sysbench are a Result with Errors, for that is an outcome of the load; the error is for what is wrong with the run.
func (s Sysbench) Run(ctx context.Context) (Result, procstat.CPU, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Warmup+s.Duration+overtime)
	defer cancel()
	args, err := s.args()
	if err != nil {
		return Result{}, procstat.CPU{}, err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "sysbench", args...)
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: s.Apart}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, procstat.CPU{}, err
	}
	if err := cmd.Start(); err != nil {
		return Result{}, procstat.CPU{}, fmt.Errorf("sysbench: %w", err)
	}
	watch := sysbenchWatch{window: s.Window, pid: cmd.Process.Pid}
	text, readErr := watch.read(stdout)
	waitErr := cmd.Wait()
	if err := errors.Join(readErr, ctx.Err()); err != nil {
		return Result{}, procstat.CPU{}, fmt.Errorf("sysbench: %w", err)
	}
	if waitErr != nil {
		return Result{Errors: 1, FirstError: fatal(text + stderr.String())}, procstat.CPU{}, nil
	}
	result, err := parseSysbench(text)
	return result, watch.end.Sub(watch.begin), err
}

func (s Sysbench) args() ([]string, error) {
	host, port, err := net.SplitHostPort(s.Login.Addr)
	if err != nil {
		return nil, err
	}
	mode := "disable"
	if s.Prepared {
		mode = "auto"
	}
	rows := "uniform"
	if s.Hot {
		rows = "special"
	}
	warmup := int(max(1, math.Ceil(s.Warmup.Seconds())))
	seconds := warmup + int(max(1, math.Ceil(s.Duration.Seconds())))
	return []string{
		s.Script, "--db-driver=mysql", "--mysql-host=" + host, "--mysql-port=" + port, "--mysql-user=" + s.Login.User,
		"--mysql-password=" + s.Login.Password, "--mysql-db=" + s.Login.DB, "--tables=1", "--table-size=" + strconv.Itoa(s.TableSize),
		"--threads=" + strconv.Itoa(s.Threads), "--db-ps-mode=" + mode, "--rand-type=" + rows, "--histogram", "--percentile=99",
		"--time=" + strconv.Itoa(seconds), "--report-checkpoints=" + strconv.Itoa(warmup), "run",
	}, nil
}

// sysbenchWatch reads what sysbench prints while it runs, to know when the measured time begins and ends.
type sysbenchWatch struct {
	window     Window
	pid        int
	begin, end procstat.CPU // of sysbench
}

// The lines that tell. At a checkpoint sysbench prints a report and sets its counters to zero.
const (
	checkpointMark = "Checkpoint report:"
	histogramMark  = "Latency histogram"
	failureMark    = "FATAL: "
)

func (w *sysbenchWatch) read(out io.Reader) (text string, err error) {
	var all strings.Builder
	begun, ended := false, false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.Contains(line, checkpointMark) && !begun:
			begun = true
			if w.begin, err = procstat.ReadCPU(w.pid); err != nil {
				return "", err
			}
			w.window.begin()
		case strings.HasPrefix(line, histogramMark) && begun && !ended:
			ended = true
			if w.end, err = procstat.ReadCPU(w.pid); err != nil {
				return "", err
			}
			w.window.end()
		}
		all.WriteString(line)
		all.WriteByte('\n')
	}
	if begun && !ended {
		w.window.end() // sysbench failed in the middle
	}
	return all.String(), lines.Err()
}

// fatal gives sysbench's complaint: the first with a server's error, else the first.
func fatal(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		_, complaint, ok := strings.Cut(line, failureMark)
		if !ok {
			continue
		}
		complaint = strings.TrimSpace(complaint)
		if strings.HasPrefix(complaint, "error ") {
			return complaint
		}
		if first == "" {
			first = complaint
		}
	}
	if first == "" {
		return "sysbench failed without saying why"
	}
	return first
}
