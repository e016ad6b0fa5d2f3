package web

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
)

//go:embed src/*/*.graphql
var documents embed.FS

// OperationNames returns the names of the operations that the web app sends.
func OperationNames() []string {
	operation := regexp.MustCompile(`(?m)^(?:query|mutation|subscription) (\w+)`)
	var names []string
	files, _ := fs.Glob(documents, "src/*/*.graphql") // the pattern is a good one
	for _, file := range files {
		text, _ := documents.ReadFile(file) // it was found
		for _, found := range operation.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
