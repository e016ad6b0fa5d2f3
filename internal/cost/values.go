package cost

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
