package cost

import "encoding/json"

// Bytes that a decoded JSON value takes beside its texts: those of Go's interfaces, strings, slices and maps.
const (
	bytesPerValue  = 64
	bytesPerObject = 300 // a map has room for eight fields
	bytesPerField  = 64  // of a larger one
)

// CountValues returns the number of values in a decoded JSON value, itself included. It stops above the limit.
func CountValues(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if n += CountValues(value, limit-n); n > limit {
				break
			}
		}
	case []any:
		for _, value := range v {
			if n += CountValues(value, limit-n); n > limit {
				break
			}
		}
	}
	return n
}

// SizeOf returns about how many bytes a decoded JSON value takes in memory.
func SizeOf(v any) int {
	size := bytesPerValue
	switch v := v.(type) {
	case string:
		size += len(v)
	case json.Number:
		size += len(v)
	case []any:
		for _, element := range v {
			size += SizeOf(element)
		}
	case map[string]any:
		if len(v) > 0 {
			size += bytesPerObject
		}
		for name, value := range v {
			size += bytesPerField + len(name) + SizeOf(value)
		}
	}
	return size
}
