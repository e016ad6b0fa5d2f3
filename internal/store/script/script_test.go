package script

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// names returns the constants of type Name in script.go.
func names(t *testing.T) map[Name]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "script.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[Name]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Name" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found[Name(value)] = true
		}
		return true
	})
	return found
}

func TestLoad_HasEveryName(t *testing.T) {
	t.Parallel()
	scripts, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	names := names(t)
	if len(names) < 50 {
		t.Fatalf("script.go has %d names, want at least 50", len(names))
	}
	for name := range names {
		if scripts[name] == nil {
			t.Errorf("no file %s.lua", name)
		}
	}
	bases := map[string]Name{}
	for name := range scripts {
		if !names[name] {
			t.Errorf("%s.lua has no constant", name)
		}
		if other, taken := bases[name.Base()]; taken {
			t.Errorf("%s and %s have the same base name", name, other)
		}
		bases[name.Base()] = name
	}
}

func TestScripts_DescribeKeysArgvAndReply(t *testing.T) {
	t.Parallel()
	for name := range names(t) {
		text, err := files.ReadFile(string(name) + extension)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\nlocal ")
		if !strings.HasPrefix(head, "-- "+name.Base()+" ") {
			t.Errorf("%s.lua does not begin with its name", name)
		}
		for _, part := range []string{"-- KEYS   ", "-- Reply  "} {
			if !strings.Contains(head, part) {
				t.Errorf("the head of %s.lua lacks %q", name, part)
			}
		}
		if strings.Contains(string(text), "ARGV[") && !strings.Contains(head, "-- ARGV   ") {
			t.Errorf("the head of %s.lua lacks ARGV", name)
		}
	}
}
