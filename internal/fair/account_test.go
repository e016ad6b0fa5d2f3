package fair

import "testing"

// TestAccount_CountsForItsHolderAndTheOuterOne changes an account whose outer account belongs to another gate, as that of a client
// in a network.
func TestAccount_CountsForItsHolderAndTheOuterOne(t *testing.T) {
	t.Parallel()
	clients, networks := NewGate[string](100, 10), NewGate[string](12, 12)
	account := func(client string) *Account[string] {
		return NewAccount(clients, client, NewAccount(networks, "network", nil))
	}
	first, second := account("visitor"), account("other")
	expect := func(visitor, user, other, inNetwork int) {
		t.Helper()
		got := []int{clients.UsedBy("visitor"), clients.UsedBy("user"), clients.UsedBy("other"), networks.UsedBy("network")}
		for i, want := range []int{visitor, user, other, inNetwork} {
			if got[i] != want {
				t.Fatalf("visitor, user, other and network use %v, want %d at %d", got, want, i)
			}
		}
	}
	set := func(a *Account[string], n int, want bool) {
		t.Helper()
		if got := a.Set(n); got != want {
			t.Fatalf("Set(%d) = %v", n, got)
		}
	}
	set(first, 8, true)
	expect(8, 0, 0, 8)
	set(first, 11, false) // the share of a client
	expect(8, 0, 0, 8)
	first.ChangeHolder("user")
	expect(0, 8, 0, 8)
	set(second, 5, false) // what is left of the network
	expect(0, 8, 0, 8)
	set(second, 4, true)
	expect(0, 8, 4, 12)
	set(first, 0, true)
	expect(0, 0, 4, 4)
	first.ChangeHolder("visitor") // with nothing
	set(second, 10, true)
	expect(0, 0, 10, 10)
}
