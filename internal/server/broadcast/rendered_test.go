package broadcast

import (
	"encoding/json"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

func TestRendered_ReplacesOnlyTheCursor(t *testing.T) {
	t.Parallel()
	mark, earlier := newPlaceholder(), newPlaceholder()
	if mark == earlier {
		t.Fatal("two marks are equal")
	}
	for name, tt := range map[string]struct{ data, want string }{
		"no cursor":            {`{"a":1}`, `{"data":{"a":1}}`},
		"two":                  {`{"a":"` + string(mark) + `","b":"` + string(mark) + `"}`, `{"data":{"a":"mine","b":"mine"}}`},
		"a text like a mark":   {`{"a":"mark-","b":"cursor"}`, `{"data":{"a":"mark-","b":"cursor"}}`},
		"that of another time": {`{"a":"` + string(earlier) + `"}`, `{"data":{"a":"` + string(earlier) + `"}}`},
	} {
		r, err := cutAt(mark, &graphql.Response{Data: json.RawMessage(tt.data)})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.AppendTo(nil, "mine")); got != tt.want || r.Len("mine") != len(tt.want) {
			t.Errorf("%s: got %s of length %d, want %s", name, got, r.Len("mine"), tt.want)
		}
	}
}
