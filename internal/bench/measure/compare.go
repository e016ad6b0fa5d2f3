package measure

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Compare prints two reports beside each other: the medians with their ratio, and for each
// baseline the ratio that the figure has to it in each report. Where the speed of the machine
// differs between the reports, the ratios to the baselines are what can be compared.
func Compare(w io.Writer, first, second *Report) error {
	if first.Machine != second.Machine {
		_, _ = fmt.Fprintf(w, "The machines differ: %+v and %+v\n", first.Machine, second.Machine)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) } // Flush returns the error
	row("FIGURE", "FIRST", "SECOND", "SECOND / FIRST")
	common := 0
	for _, a := range first.Figures {
		i := slices.IndexFunc(second.Figures, func(b Summary) bool { return a.Measurement == b.Measurement && a.Name == b.Name })
		if i < 0 {
			row(a.Name, quantity(a.Median, a.Unit), "not measured", "")
			continue
		}
		common++
		b := second.Figures[i]
		row(a.Name, quantity(a.Median, a.Unit), quantity(b.Median, b.Unit), change(a.Median, b.Median))
		for _, x := range a.Baselines {
			for _, y := range b.Baselines {
				if x.Name == y.Name && x.Ratio != 0 && y.Ratio != 0 {
					row("  to "+x.Name, x.ratio(), y.ratio(), change(x.Ratio, y.Ratio))
				}
			}
		}
	}
	if common == 0 {
		return fmt.Errorf("the reports have no figure in common")
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return nil
}

func change(before, after float64) string {
	if before == 0 {
		return ""
	}
	return quantity(after/before, ratioUnit)
}
