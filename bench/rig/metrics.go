package rig

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Allocations is how many objects kingshard has allocated since its start; false for a contender that does not tell.
func (c *Contender) Allocations(ctx context.Context) (float64, bool, error) {
	if c.metrics == "" {
		return 0, false, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.metrics+"/metrics", nil)
	if err != nil {
		return 0, false, err
	}
	request.Close = true // no connection is kept, so the proxy has none of ours while it is measured
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	n, err := sample(response.Body, "go_memstats_mallocs_total")
	return n, err == nil, err
}

// sample finds a sample without labels in the text format of Prometheus.
func sample(text io.Reader, name string) (float64, error) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("no metric %s", name)
}
