package limits

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Bounds of a number, in documents and variables. Those within them have a value, an int64 or a float64, which is read in a microsecond. Package
// strconv needs up to 30 for one that is too large or too small, and 13 for one with more than 19 digits.
const (
	maxDigits       = 18 // from the first one that is not 0
	maxNumberLength = 24 // bytes of a number that is no integer
	maxExponent     = 2  // digits
)

// unusualNumberIn returns the error for a number out of bounds.
func unusualNumberIn(place, code string) *gqlerror.Error {
	err := gqlerror.Errorf("a number in the %s is out of bounds: numbers can have %d digits, or %d characters if they are no integers, and exponents %d digits",
		place, maxDigits, maxNumberLength, maxExponent)
	errcode.Set(err, code)
	return err
}

// isUnusual reports whether a number, in the syntax of JSON or GraphQL, is out of bounds.
func isUnusual(number string) bool {
	mantissa, exponent := number, ""
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa, exponent = number[:at], strings.TrimLeft(number[at+1:], "+-")
	}
	digits := strings.TrimLeft(mantissa, "-0.")
	digits = strings.Replace(digits, ".", "", 1)
	return len(digits) > maxDigits || len(number) > maxNumberLength || len(exponent) > maxExponent
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

// CheckNumbers refuses variables with strings in place of numbers, which gqlparser accepts, unlike the GraphQL specification. They have no bound,
// and would be parsed for each object that has the argument.
func CheckNumbers(schema *ast.Schema, operation *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	for _, variable := range operation.VariableDefinitions {
		if hasTextForNumber(schema, variable.Type.Name(), variables[variable.Variable]) {
			err := gqlerror.Errorf("the variable $%s has a string in place of a number: leave out the quotes", variable.Variable)
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
	}
	return nil
}

// hasTextForNumber reports whether a value of a type, or a list of them, has a string in place of a number.
func hasTextForNumber(schema *ast.Schema, typeName string, v any) bool {
	switch v := v.(type) {
	case string:
		return typeName == "Int" || typeName == "Float"
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return hasTextForNumber(schema, typeName, element) })
	case map[string]any:
		definition := schema.Types[typeName]
		if definition == nil {
			return false
		}
		for name, value := range v {
			if field := definition.Fields.ForName(name); field != nil && hasTextForNumber(schema, field.Type.Name(), value) {
				return true
			}
		}
	}
	return false
}
