package retwis

// UserErrors returns the failures that make up err when a person can mend them all,
// and false otherwise. Functions that check several fields at once return the
// failures of all of them joined by [errors.Join].
func UserErrors(err error) ([]*Error, bool) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked by hand
	case nil:
		return nil, false
	case *Error:
		if e.UserError() {
			return []*Error{e}, true
		}
		return nil, false
	case interface{ Unwrap() error }:
		return UserErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, part := range e.Unwrap() {
			some, ok := UserErrors(part)
			if !ok {
				return nil, false
			}
			all = append(all, some...)
		}
		return all, len(all) > 0
	default:
		return nil, false
	}
}
