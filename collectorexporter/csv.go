package collectorexporter

import (
	"encoding/csv"
	"fmt"
	"io"
)

// writeCSV writes two blocks with an empty line between them: the per-request metrics with their statistics, and the
// metrics of the whole run. Every cell is a header of ours or a number: nothing from the network is in it.
func writeCSV(w io.Writer, s *Summary) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	head := []string{"Metric", "avg", "min", "max", "sum"}
	for _, q := range percents {
		head = append(head, fmt.Sprintf("p%d", q))
	}
	rows := [][]string{append(head, "std")}
	for _, f := range s.Figures {
		if f.Stats == nil {
			continue
		}
		row := []string{f.name(), fixed(f.Stats.Avg), fixed(f.Stats.Min), fixed(f.Stats.Max), fixed(f.Stats.Sum)}
		for _, p := range f.Stats.percentiles {
			row = append(row, fixed(p))
		}
		rows = append(rows, append(row, fixed(f.Stats.Std)))
	}
	if err := c.WriteAll(rows); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\r\n"); err != nil {
		return err
	}
	rows = [][]string{{"Metric", "Value"}}
	for _, f := range s.Figures {
		if f.Stats == nil {
			rows = append(rows, []string{f.name(), fixed(f.Value)})
		}
	}
	return c.WriteAll(rows)
}

func fixed(v float64) string { return fmt.Sprintf("%.2f", v) }
