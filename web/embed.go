// Package web serves the web app and the playground, as their build left them.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

// build holds dist if there is a build. A pattern that matches nothing does not compile, so it
// also matches dist-missing.html, which always exists.
//
//go:embed all:dist*
var build embed.FS

const missingPage = "dist-missing.html"

// Options say what the web app offers.
type Options struct {
	// Playground serves the playground at /playground.
	Playground bool
	// Demo lists accounts to log in to on the welcome page, with their passwords.
	Demo []DemoAccount
	// HasSession reports whether a request carries the cookie of a session. At / such a
	// request gets the app, and others get the welcome page.
	HasSession func(*http.Request) bool
}

// DemoAccount is an account of a demonstration, which everybody may use.
type DemoAccount struct {
	Username    string `json:"username"`
	DisplayName string `json:"displayName"`
	Password    string `json:"password"`
}

// Handler serves the web app at every path but those of files. A program that was built
// without the web app serves a page that says how to build it.
func Handler(opts Options) (http.Handler, error) {
	dist, err := fs.Sub(build, "dist")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(dist, appDocument+".html"); err != nil {
		page, err := fs.ReadFile(build, missingPage)
		if err != nil {
			return nil, err
		}
		return missing(page), nil
	}
	return newSite(dist, opts)
}
