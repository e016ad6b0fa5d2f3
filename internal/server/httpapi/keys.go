package httpapi

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// fewKeys is the number of keys of an object up to which a linear search is faster than a map.
const fewKeys = 16

// checkKeys refuses JSON with two equal keys in one object, of which decoders take either. It refuses keys of the outermost
// object that differ from the known ones in their case only, which [json.Unmarshal] would accept, and many keys there beside the known ones, which are
// in no price. It refuses keys with escapes, which take
// ten times as long to compare, and which no name of GraphQL needs. Malformed JSON passes: the decoder refuses it.
func checkKeys(text []byte, known []string) error {
	var open []keysOf
	outermost := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			open = append(open, keysOf{object: true, expected: true})
		case '[':
			open = append(open, keysOf{})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if len(open) > 0 {
				open[len(open)-1].expected = open[len(open)-1].object
			}
		case '"':
			end := stringEnd(text, i)
			if len(open) > 0 && open[len(open)-1].expected {
				quoted := text[i+1 : max(end-1, i+1)]
				if bytes.IndexByte(quoted, '\\') >= 0 {
					return fmt.Errorf("the key %s contains a backslash: write keys without escapes", shortened(string(quoted)))
				}
				key := string(quoted)
				if !open[len(open)-1].add(key) {
					return fmt.Errorf("the key %s is given twice", shortened(key))
				}
				if len(open) == 1 && known != nil {
					if outermost++; outermost > maxKeys {
						return fmt.Errorf("the object has more than %d keys", maxKeys)
					}
					if err := checkCase(key, known); err != nil {
						return err
					}
				}
				open[len(open)-1].expected = false
			}
			i = end - 1
		}
	}
	return nil
}

// keysOf is an object or a list that is being read.
type keysOf struct {
	object   bool
	expected bool // the next string is a key
	few      []string
	many     map[string]bool
}

// add reports whether the key is new.
func (k *keysOf) add(key string) bool {
	if k.many[key] || slices.Contains(k.few, key) {
		return false
	}
	switch {
	case k.many != nil:
		k.many[key] = true
	case len(k.few) == fewKeys:
		k.many = map[string]bool{key: true}
	default:
		k.few = append(k.few, key)
	}
	return true
}

func checkCase(key string, known []string) error {
	for _, name := range known {
		if key != name && strings.EqualFold(key, name) {
			return fmt.Errorf("the key %s is unknown: write %s", shortened(key), name)
		}
	}
	return nil
}

// stringEnd returns the position after the string that begins at a position.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// shortened returns a key for an error message.
func shortened(key string) string {
	const most = 40
	if len(key) <= most {
		return fmt.Sprintf("%q", key)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(key[:most], ""))
}
