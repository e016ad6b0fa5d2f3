package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

func TestDocuments_UseExistingCommandsAndFlags(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("retwis-bench"))
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string][]string{}
	for _, command := range parser.Model.Children {
		flags[command.Name] = []string{"help"}
		for _, flag := range command.Flags {
			flags[command.Name] = append(flags[command.Name], flag.Name)
		}
	}
	paths := []string{"../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md", "../../Makefile"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	use := regexp.MustCompile("retwis-bench ([a-z]+)([^`\n]*)")
	flag := regexp.MustCompile(`--([a-z][a-z-]*)`)
	uses := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range use.FindAllStringSubmatch(string(text), -1) {
			uses++
			known, exists := flags[found[1]]
			if !exists {
				t.Errorf("%s uses the command %s, which does not exist", path, found[1])
			}
			for _, f := range flag.FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(known, f[1]) {
					t.Errorf("%s uses --%s, which %s does not have", path, f[1], found[1])
				}
			}
		}
	}
	if uses < 10 {
		t.Errorf("found only %d uses of retwis-bench", uses)
	}
}
