package cost

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The size of values is about that of the memory that they take, whatever they consist of.
func TestSizeOf_IsTheMemoryOfValues(t *testing.T) {
	elements := func(element string) string { return "[" + strings.Repeat(element+",", 999) + element + "]" }
	for name, text := range map[string]string{
		"a long text":                     `"` + strings.Repeat("x", 250_000) + `"`,
		"texts":                           elements(`"` + strings.Repeat("x", 200) + `"`),
		"empty texts":                     elements(`""`),
		"numbers":                         elements("1"),
		"lists":                           elements("[]"),
		"objects":                         elements("{}"),
		"objects with a field":            elements(`{"a":1}`),
		"an object with a thousand names": "{" + manyNames() + "}",
	} {
		t.Run(name, func(t *testing.T) {
			const times = 20
			var values [times]any
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range values {
				d := json.NewDecoder(strings.NewReader(text))
				d.UseNumber()
				if err := d.Decode(&values[i]); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			took, size := int(after.HeapAlloc-before.HeapAlloc)/times, SizeOf(values[0])
			runtime.KeepAlive(&values)
			if size < took*3/4 || size > 5*took {
				t.Errorf("%d bytes of values count as %d", took, size)
			}
		})
	}
}

func manyNames() string {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf(`"name%d":%d`, i, i))
	}
	return strings.Join(names, ",")
}
