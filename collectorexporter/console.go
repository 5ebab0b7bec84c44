package collectorexporter

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/specdecode/otel/semconv/acceptance"
)

const (
	title = "Spec Decode"
	// longHeader is the length, in characters, past which a metric's unit stands on a line of its own.
	longHeader = 30
	// folded is the histogram's bucket that takes in all that are larger.
	folded = 8
)

// consoleColumns are the statistics that the table shows, after the metric's name.
var consoleColumns = []struct {
	head string
	of   func(*Stats) float64
}{
	{"avg", func(s *Stats) float64 { return s.Avg }},
	{"min", func(s *Stats) float64 { return s.Min }},
	{"max", func(s *Stats) float64 { return s.Max }},
	{"p99", func(s *Stats) float64 { return s.Percentile(99) }},
	{"p90", func(s *Stats) float64 { return s.Percentile(90) }},
	{"p50", func(s *Stats) float64 { return s.Percentile(50) }},
	{"std", func(s *Stats) float64 { return s.Std }},
}

// writeConsole writes the section of the console: the table with the histogram line, if any request carried stats,
// and the lines about what the figures do not cover.
func writeConsole(w io.Writer, s *Summary, prefix string) error {
	b := bufio.NewWriter(w)
	if s.hasStats() {
		writeTable(b, consoleRows(s), prefix+title)
		if line := histogramLine(s.Histogram); line != "" {
			fmt.Fprintln(b, line)
		}
	}
	for i, note := range s.notes() {
		if i == 0 && s.hasStats() {
			fmt.Fprintln(b)
		}
		fmt.Fprintln(b, printable(note, maxText))
	}
	return b.Flush()
}

// consoleRows are the table's rows, each a list of cells; a row with a long header is followed by one with its unit.
func consoleRows(s *Summary) [][]string {
	shown := slices.DeleteFunc(slices.Clone(s.Figures), func(f Figure) bool { return f.order == 0 })
	slices.SortFunc(shown, func(a, b Figure) int { return a.order - b.order })
	head := []string{"Metric"}
	for _, c := range consoleColumns {
		head = append(head, c.head)
	}
	rows := [][]string{head}
	for _, f := range shown {
		unit := "(" + f.unit + ")"
		long := len(f.header) > longHeader
		row := []string{f.header}
		if !long {
			row[0] += " " + unit
		}
		for i, c := range consoleColumns {
			switch {
			case f.Stats != nil:
				row = append(row, thousands(c.of(f.Stats)))
			case i == 0:
				row = append(row, thousands(f.Value))
			default:
				row = append(row, "N/A")
			}
		}
		rows = append(rows, row)
		if long {
			rows = append(rows, append([]string{unit}, make([]string, len(consoleColumns))...))
		}
	}
	return rows
}

// writeTable draws a box with a heavy head, right-aligned, each column as wide as its widest cell, and the title
// centred over it.
func writeTable(b *bufio.Writer, rows [][]string, title string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	total := 1
	for _, w := range widths {
		total += w + 3
	}
	pad := max(0, total-utf8.RuneCountInString(title)) / 2
	fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", pad), title)

	rule := func(left, line, middle, right string) {
		b.WriteString(left)
		for i, w := range widths {
			if i > 0 {
				b.WriteString(middle)
			}
			b.WriteString(strings.Repeat(line, w+2))
		}
		b.WriteString(right + "\n")
	}
	cells := func(bar string, row []string) {
		b.WriteString(bar)
		for i, cell := range row {
			fmt.Fprintf(b, " %*s %s", widths[i], cell, bar)
		}
		b.WriteString("\n")
	}
	rule("┏", "━", "┳", "┓")
	cells("┃", rows[0])
	rule("┡", "━", "╇", "┩")
	for _, row := range rows[1:] {
		cells("│", row)
	}
	rule("└", "─", "┴", "┘")
}

// histogramLine is the pooled histogram in percent of steps, or empty when there is none.
func histogramLine(h acceptance.Histogram) string {
	steps := h.Steps()
	if steps == 0 {
		return ""
	}
	var buckets []string
	for j, n := range h[:min(len(h), folded)] {
		buckets = append(buckets, fmt.Sprintf("%d: %.0f%%", j, share(n, steps)))
	}
	if len(h) > folded {
		buckets = append(buckets, fmt.Sprintf(">=%d: %.0f%%", folded, share(h[folded:].Steps(), steps)))
	}
	return "  Accepted drafts per step (% of steps):  " + strings.Join(buckets, "   ")
}

// share is a percentage. The product is exact, so that a half is one and rounds to even.
func share(n, total int64) float64 { return float64(100*n) / float64(total) }

// thousands formats with two decimals and commas between thousands.
func thousands(v float64) string {
	s := fixed(v)
	digits := strings.IndexByte(s, '.')
	start := 0
	if v < 0 {
		start = 1
	}
	for i := digits - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
