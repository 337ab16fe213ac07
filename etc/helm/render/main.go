// Command render prints what Helm makes of a chart, for tests of the chart: a JSON object of each template's text. It is a
// module of its own, as Helm brings in most of Kubernetes.
//
// Usage: render CHART < values.yaml
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	texts, err := render(os.Args[1], os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(texts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// render checks values against the chart's schema and renders its templates, as `helm install` does before it asks a cluster.
func render(dir string, values io.Reader) (map[string]string, error) {
	c, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(values)
	if err != nil {
		return nil, err
	}
	given, err := chartutil.ReadValues(data)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "kingshard", Namespace: "here", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}
