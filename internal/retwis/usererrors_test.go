package retwis

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUserErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want []*Error
	}{
		{"none", nil, nil},
		{"one", ErrNameTaken, []*Error{ErrNameTaken}},
		{"a wrapped error", fmt.Errorf("register: %w", ErrNameTaken), []*Error{ErrNameTaken}},
		{
			"several", fmt.Errorf("register: %w", errors.Join(ErrNameTaken, fmt.Errorf("and %w", ErrNotOwner))),
			[]*Error{ErrNameTaken, ErrNotOwner},
		},
		{"an error that the user cannot correct", ErrUnauthenticated, nil},
		{"several, one of which the user cannot correct", errors.Join(ErrNameTaken, ErrForbidden), nil},
		{"several, one of them internal", errors.Join(ErrNameTaken, errors.New("disk full")), nil},
		{"internal", errors.New("disk full"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := UserErrors(tt.err)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("UserErrors(%v) is %t and differs (-want +got):\n%s", tt.err, ok, diff)
			}
		})
	}
}
