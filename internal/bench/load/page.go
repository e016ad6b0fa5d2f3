package load

import (
	_ "embed" // the page, its style and its scripts
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

// uPlot 1.6.32 (https://github.com/leeoniya/uPlot) draws the plots. Its licence is beside it.
var (
	//go:embed assets/report.html
	page string
	//go:embed assets/report.js
	pageScript string
	//go:embed assets/uPlot.iife.min.js
	plotScript string
	//go:embed assets/uPlot.min.css
	plotStyle string
	//go:embed assets/uPlot.LICENSE
	plotLicence string
)

// WriteHTML writes the report as a page without external resources.
func (r *Report) WriteHTML(w io.Writer) error {
	parsed, err := template.New("report").Funcs(template.FuncMap{"number": number}).Parse(page)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	data, err := json.Marshal(r) // it escapes what would end the script element
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	err = parsed.Execute(w, map[string]any{
		"Report":     r,
		"Title":      describe(r.Settings),
		"Series":     r.series(),
		"Remarks":    r.Remarks(),
		"Data":       template.JS(data),
		"Plot":       template.JS("/*\n" + plotLicence + "*/\n" + plotScript),
		"Style":      template.CSS(plotStyle),
		"Script":     template.JS(pageScript),
		"Subscribes": r.Deliveries != nil,
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
