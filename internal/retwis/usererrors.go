package retwis

// UserErrors returns the validation errors that err consists of, and false if it contains
// any other error. Functions that check several fields join their errors by [errors.Join].
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
