// Package report holds what a benchmark run found (Run), reads and writes it as JSON, draws from it what is to be known
// (medians, ratios, checks), and renders it as Markdown with plots in SVG. It measures nothing.
package report
