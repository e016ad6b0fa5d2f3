package enginetest

import "pgregory.net/rapid"

// Shrinkable returns a test that fails with the same message each time that rapid repeats a sequence of actions, as
// shrinking requires. Ids differ from run to run, so the values of a message go to the log.
func Shrinkable(t *rapid.T) T { return shrinkable{t} }

type shrinkable struct{ *rapid.T }

const unexpected = "unexpected error, see the log"

func (s shrinkable) Error(args ...any) {
	s.Log(args...)
	s.T.Error(unexpected)
}

func (s shrinkable) Errorf(format string, args ...any) {
	s.Logf(format, args...)
	s.T.Error(format)
}

func (s shrinkable) Fatal(args ...any) {
	s.Log(args...)
	s.T.Fatal(unexpected)
}

func (s shrinkable) Fatalf(format string, args ...any) {
	s.Logf(format, args...)
	s.T.Fatal(format)
}
