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
	maxDigits       = 18  // from the first one that is not 0
	maxNumberLength = 26  // bytes of a number with a fraction or an exponent
	maxExponent     = 2   // digits
	maxFloats       = 100 // such numbers in a document: those in the middle between two values take a microsecond, each time they are validated
)

// unusualNumberIn returns the error for a number out of bounds.
func unusualNumberIn(place, code string) *gqlerror.Error {
	err := gqlerror.Errorf("a number in the %s is out of bounds: numbers can have %d digits, %d characters with a fraction or an exponent, and exponents of %d digits",
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

// CheckScalars refuses variables with strings in place of numbers, which gqlparser accepts, unlike the GraphQL specification, and with
// anything but strings in place of custom scalars. These values have no bound, and would be parsed for each object that has the argument.
func CheckScalars(schema *ast.Schema, operation *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	for _, variable := range operation.VariableDefinitions {
		if problem := misplaced(schema, variable.Type.Name(), variables[variable.Variable]); problem != "" {
			err := gqlerror.Errorf("the variable $%s has %s", variable.Variable, problem)
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
	}
	return nil
}

// misplaced returns what is wrong with a scalar in a value of a type, or in a list of such values.
func misplaced(schema *ast.Schema, typeName string, v any) string {
	definition := schema.Types[typeName]
	if definition == nil {
		return ""
	}
	_, isText := v.(string)
	values, isList := v.([]any)
	switch {
	case isList:
		for _, value := range values {
			if problem := misplaced(schema, typeName, value); problem != "" {
				return problem
			}
		}
	case isText && (typeName == "Int" || typeName == "Float"):
		return "a string in place of a number: leave out the quotes"
	case !isText && v != nil && definition.Kind == ast.Scalar && !definition.BuiltIn:
		return "another value in place of a " + typeName + ": send a string"
	case definition.Kind == ast.InputObject:
		fields, _ := v.(map[string]any)
		for name, value := range fields {
			if field := definition.Fields.ForName(name); field != nil {
				if problem := misplaced(schema, field.Type.Name(), value); problem != "" {
					return problem
				}
			}
		}
	}
	return ""
}
