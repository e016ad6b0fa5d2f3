package web

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
)

//go:embed src/*/*.graphql packages/*/src/*.graphql
var operationFiles embed.FS

// OperationNames returns the names of the operations that the web app sends.
func OperationNames() []string {
	operation := regexp.MustCompile(`(?m)^(?:query|mutation|subscription) (\w+)`)
	var names []string
	for _, pattern := range []string{"src/*/*.graphql", "packages/*/src/*.graphql"} {
		files, _ := fs.Glob(operationFiles, pattern) // the pattern is valid
		for _, file := range files {
			text, _ := operationFiles.ReadFile(file) // Glob found it
			for _, found := range operation.FindAllSubmatch(text, -1) {
				names = append(names, string(found[1]))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
