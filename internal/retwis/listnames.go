package retwis

// Limits of the name of a list.
const (
	MaxListNameGraphemes = 50
	MaxListNameBytes     = 2_048
)

// NormalizeListName returns the name of a list as it is stored. The rules are those of a
// display name.
func NormalizeListName(name string) (string, error) {
	return textRule{
		field: "name", noun: "name", plural: "list names",
		graphemes: MaxListNameGraphemes, bytes: MaxListNameBytes,
	}.normalize(name)
}
