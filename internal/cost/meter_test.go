package cost

import (
	"errors"
	"testing"

	"retwis/internal/ratelimit"
)

func TestMeter_ChargesWhatExceedsThePrice(t *testing.T) {
	t.Parallel()
	charged := 0
	m := NewMeter(Options{Price: 100, Charge: func(points int) error { charged += points; return nil }})
	for range 10 {
		if err := m.Add(Work{Commands: 3, Scripts: 2, Rows: 20}); err != nil { // 15 points
			t.Fatal(err)
		}
	}
	if err := m.Written(4_000); err != nil {
		t.Fatal(err)
	}
	work, beyond := m.Close()
	if want := (Work{Commands: 30, Scripts: 20, Rows: 200, Bytes: 4_000}); work != want || work.Points() != 170 {
		t.Errorf("counted %v, %d points", work, work.Points())
	}
	if beyond != 70 || charged != 70 {
		t.Errorf("charged %d, says %d, want 70", charged, beyond)
	}
	if _, beyond = m.Close(); beyond != 70 || charged != 70 {
		t.Errorf("a second call of Close charges %d more", charged-70)
	}
	m = NewMeter(Options{Price: 100, Charge: func(int) error { t.Error("charged work that was paid for"); return nil }})
	if err := m.Add(Work{Commands: 100}); err != nil {
		t.Error(err)
	}
	m.Close()
}

func TestMeter_StopsAnOperationWithoutBudget(t *testing.T) {
	t.Parallel()
	spent := errors.New("spent")
	options := Options{Charge: func(int) error { return spent }}
	m := NewMeter(options)
	if err := m.Add(Work{Commands: step - 1}); err != nil {
		t.Error(err)
	}
	if err := m.Add(Work{Commands: 1}); !errors.Is(err, spent) {
		t.Errorf("got %v", err)
	}
	if err := m.Written(1); !errors.Is(err, spent) {
		t.Errorf("got %v", err)
	}
	options.NeverStops = true
	m = NewMeter(options)
	if err := m.Add(Work{Commands: 1000}); err != nil {
		t.Errorf("a mutation was stopped: %v", err)
	}
}

func TestMeter_BoundsBytes(t *testing.T) {
	t.Parallel()
	shares := NewShares()
	key := ratelimit.Key{User: 1}
	m := NewMeter(Options{Holder: key, Shares: shares})
	if err := m.Written(MaxResponse); err != nil {
		t.Fatal(err)
	}
	if err := m.Written(MaxResponse + 1); !errors.Is(err, ErrResponseTooLarge) {
		t.Errorf("got %v", err)
	}
	if held := shares.Bytes.UsedBy(key); held != MaxResponse {
		t.Errorf("%d bytes are held", held)
	}
	m.Close()
	if shares.Bytes.Used() != 0 {
		t.Error("bytes are held after the end of the operation")
	}
	var open []*Meter
	for range bytesOfHolder/MaxResponse + 1 {
		open = append(open, NewMeter(Options{Holder: key, Shares: shares}))
	}
	for i, m := range open {
		err := m.Written(MaxResponse)
		if last := i == len(open)-1; (err != nil) != last {
			t.Errorf("response %d: %v", i, err)
		}
	}
	other := NewMeter(Options{Holder: ratelimit.Key{User: 2}, Shares: shares})
	if err := other.Written(MaxResponse); err != nil {
		t.Errorf("another holder: %v", err)
	}
}
