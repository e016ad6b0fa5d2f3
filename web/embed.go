// Package web is the web app: the React app and the playground, as their build left them,
// and the handler that serves them.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

// build holds dist where there is a build. A pattern that matched nothing would not
// compile, so it also matches dist-missing.html, which is always there.
//
//go:embed all:dist*
var build embed.FS

const missingPage = "dist-missing.html"

// Handler serves the web app at every path but those of assets, and, if so wished, the
// playground at /playground. In a program that was built without them it says how to get
// them.
func Handler(playground bool) (http.Handler, error) {
	dist, err := fs.Sub(build, "dist")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(dist, indexPage); err != nil {
		page, err := fs.ReadFile(build, missingPage)
		if err != nil {
			return nil, err
		}
		return missing(page), nil
	}
	return newSite(dist, playground)
}
