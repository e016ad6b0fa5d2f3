package limits

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Bounds of a number, in documents and variables. Those within them have a value, an int64 or a float64, which is read in a microsecond. Package
// strconv needs up to 30 for one that is too large or too small, or very close to the middle between two values.
const (
	maxDigits       = 18 // of an integer
	maxNumberLength = 24 // bytes of any other number
	maxExponent     = 2  // digits
)

// unusualNumberIn returns the error for a number out of bounds.
func unusualNumberIn(place, code string) *gqlerror.Error {
	err := gqlerror.Errorf("a number in the %s is out of bounds: integers can have %d digits, other numbers %d characters, and exponents %d digits",
		place, maxDigits, maxNumberLength, maxExponent)
	errcode.Set(err, code)
	return err
}

// isUnusual reports whether a number, in the syntax of JSON or GraphQL, is out of bounds.
func isUnusual(number string) bool {
	if strings.Trim(number, "-0123456789") == "" {
		return len(strings.TrimPrefix(number, "-")) > maxDigits
	}
	exponent := 0
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent = len(strings.TrimLeft(number[at+1:], "+-"))
	}
	return len(number) > maxNumberLength || exponent > maxExponent
}

// hasUnusualNumber reports whether a number in a decoded JSON value is out of bounds.
func hasUnusualNumber(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return isUnusual(v.String())
	case map[string]any:
		for _, value := range v {
			if hasUnusualNumber(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasUnusualNumber)
	}
	return false
}
