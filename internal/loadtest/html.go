package loadtest

import (
	_ "embed" // the page and what draws its plots
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

// The plots are drawn by uPlot 1.6.32 (https://github.com/leeoniya/uPlot), whose licence is
// beside it.
var (
	//go:embed page/report.html
	page string
	//go:embed page/report.js
	pageScript string
	//go:embed page/uPlot.iife.min.js
	plotScript string
	//go:embed page/uPlot.min.css
	plotStyle string
	//go:embed page/uPlot.LICENSE
	plotLicence string
)

// WriteHTML writes the report as a page that needs nothing else.
func (r *Report) WriteHTML(w io.Writer) error {
	parsed, err := template.New("report").Funcs(template.FuncMap{"number": number}).Parse(page)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	data, err := json.Marshal(r) // escapes what would end the element it is put into
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	err = parsed.Execute(w, map[string]any{
		"Report":   r,
		"Title":    describe(r.Settings),
		"Series":   r.series(),
		"Remarks":  r.Remarks(),
		"Data":     template.JS(data),
		"Plot":     template.JS("/*\n" + plotLicence + "*/\n" + plotScript),
		"Style":    template.CSS(plotStyle),
		"Script":   template.JS(pageScript),
		"Watching": r.Deliveries != nil,
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
