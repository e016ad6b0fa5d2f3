package graph

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func loadSchema(t *testing.T, file string) *ast.Schema {
	t.Helper()
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: file, Input: readFile(t, file)})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchema_KeepsTheContract(t *testing.T) {
	t.Parallel()
	contract, schema := loadSchema(t, "testdata/contract.graphqls"), loadSchema(t, "../schema.graphqls")
	for name, want := range contract.Types {
		got := schema.Types[name]
		if got == nil || got.Kind != want.Kind {
			t.Errorf("there is no %s %s", want.Kind, name)
			continue
		}
		for _, i := range want.Interfaces {
			if !slices.Contains(got.Interfaces, i) {
				t.Errorf("%s does not implement %s", name, i)
			}
		}
		for _, value := range want.EnumValues {
			if got.EnumValues.ForName(value.Name) == nil {
				t.Errorf("%s has no value %s", name, value.Name)
			}
		}
		for _, field := range want.Fields {
			if g := got.Fields.ForName(field.Name); g == nil || g.Type.String() != field.Type.String() {
				t.Errorf("%s has no field %s: %s", name, field.Name, field.Type)
			} else {
				wantArguments(t, name+"."+field.Name, g.Arguments, field.Arguments)
			}
		}
	}
}

func wantArguments(t *testing.T, field string, got, want ast.ArgumentDefinitionList) {
	t.Helper()
	for _, argument := range want {
		if g := got.ForName(argument.Name); g == nil || g.Type.String() != argument.Type.String() {
			t.Errorf("%s has no argument %s: %s", field, argument.Name, argument.Type)
		}
	}
	for _, argument := range got {
		if want.ForName(argument.Name) == nil && argument.Type.NonNull && argument.DefaultValue == nil {
			t.Errorf("%s has the required argument %s, which is not in the contract", field, argument.Name)
		}
	}
}

func TestSchema_DescribesEverything(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{Introspection: true})
	response := a.run(as(t, nil), readFile(t, "testdata/introspection.graphql"), "")
	if len(response.Errors) > 0 {
		t.Fatal(response.Errors)
	}

	type value struct{ Name, Description string }
	type field struct {
		value
		Args []value
	}
	var answer struct {
		Schema struct {
			Description string
			Types       []struct {
				value
				Fields      []field
				InputFields []value
				EnumValues  []value
			}
			Directives []field
		} `json:"__schema"`
	}
	if err := json.Unmarshal(response.Data, &answer); err != nil {
		t.Fatal(err)
	}
	described := func(path, description string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", path)
		}
	}
	described("the schema", answer.Schema.Description)
	own := 0
	for _, of := range answer.Schema.Types {
		if strings.HasPrefix(of.Name, "__") {
			continue // built-in types
		}
		own++
		described(of.Name, of.Description)
		for _, f := range of.Fields {
			described(of.Name+"."+f.Name, f.Description)
			for _, arg := range f.Args {
				described(of.Name+"."+f.Name+"."+arg.Name, arg.Description)
			}
		}
		for _, v := range slices.Concat(of.InputFields, of.EnumValues) {
			described(of.Name+"."+v.Name, v.Description)
		}
	}
	if own < 40 {
		t.Errorf("found %d types", own)
	}
	for _, directive := range answer.Schema.Directives {
		if directive.Name == "defer" {
			t.Error("the schema has @defer, which no transport supports")
		}
	}
}

func TestSchema_LacksDefer(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	wantError(t, a.run(as(t, nil), `{ ... @defer { publicTimeline { id } } }`, ""), "GRAPHQL_VALIDATION_FAILED")
}
