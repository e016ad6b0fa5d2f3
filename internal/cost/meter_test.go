package cost

import (
	"errors"
	"testing"

	"retwis/internal/ratelimit"
)

func TestMeter_ChargesWhatExceedsThePrice(t *testing.T) {
	t.Parallel()
	charged := 0
	m := NewMeter(Options{Price: Price{Charged: 100}, Charge: func(points int) error { charged += points; return nil }})
	for range 10 {
		if err := m.Add(Work{Commands: 3, Scripts: 2, Rows: 20}); err != nil { // 15 points
			t.Fatal(err)
		}
	}
	if err := m.Written(4_000); err != nil {
		t.Fatal(err)
	}
	final := m.Close()
	work, beyond := final.Work, final.Beyond
	if want := (Work{Commands: 30, Scripts: 20, Rows: 200, Bytes: 4_000}); work != want || work.Points() != 170 {
		t.Errorf("counted %v, %d points", work, work.Points())
	}
	if beyond != 70 || charged != 70 {
		t.Errorf("charged %d, says %d, want 70", charged, beyond)
	}
	if final = m.Close(); final.Beyond != 70 || charged != 70 {
		t.Errorf("a second call of Close charges %d more", charged-70)
	}
}

func TestMeter_RefundsWhatTheWorkDoesNotUse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		price        Price
		work         Work
		refund, more int
	}{
		"less work than paid for":        {Price{Charged: 100, Fixed: 10}, Work{Commands: 30}, 60, 0},
		"exactly what was paid for":      {Price{Charged: 40, Fixed: 10}, Work{Commands: 30}, 0, 0},
		"more than was paid for":         {Price{Charged: 30, Fixed: 10}, Work{Commands: 30}, 0, 10},
		"less than the fixed part":       {Price{Charged: 600, Fixed: 510, Covered: 500}, Work{Commands: 300}, 90, 0},
		"more than the fixed part":       {Price{Charged: 600, Fixed: 510, Covered: 500}, Work{Commands: 550}, 40, 0},
		"work that another limit covers": {Price{Charged: 20, Fixed: 10, Covered: 100}, Work{Commands: 105}, 5, 0},
	} {
		charged, refunded := 0, 0
		m := NewMeter(Options{
			Price:  tt.price,
			Charge: func(points int) error { charged += points; return nil },
			Refund: func(points int) { refunded += points },
		})
		if err := m.Add(tt.work); err != nil {
			t.Error(err)
		}
		final := m.Close()
		_ = m.Close()
		if refunded != tt.refund || charged != tt.more || final.Refunded != refunded || final.Beyond != charged {
			t.Errorf("%s: refunded %d, charged %d, says %+v; want %d and %d", name, refunded, charged, final, tt.refund, tt.more)
		}
	}
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
	options.Bound = OfMutation()
	m = NewMeter(options)
	if err := m.Add(Work{Commands: MaxUnpaid}); err != nil {
		t.Errorf("a mutation was stopped: %v", err)
	}
	if err := m.Add(Work{Commands: step}); !errors.Is(err, errMutationTooLarge) {
		t.Errorf("a mutation with %d points of unpaid work: %v", MaxUnpaid+step, err)
	}
}

func TestOwe_ChargesWithoutStoppingTheOperation(t *testing.T) {
	t.Parallel()
	charged := 0
	m := NewMeter(Options{Bound: OfMutation(), Charge: func(points int) error { charged += points; return errors.New("spent") }})
	Owe(With(t.Context(), m), 2*MaxUnpaid)
	if charged != 2*MaxUnpaid || m.Err() != nil {
		t.Errorf("charged %d points, then %v", charged, m.Err())
	}
	if err := m.Add(Work{Commands: MaxUnpaid}); err != nil {
		t.Errorf("a mutation was stopped: %v", err)
	}
	if err := m.Add(Work{Commands: step}); !errors.Is(err, errMutationTooLarge) {
		t.Errorf("a mutation with too much unpaid work: %v", err)
	}
	if final := m.Close(); final.Beyond != charged || charged != 3*MaxUnpaid+step {
		t.Errorf("charged %d points, says %+v", charged, final)
	}
	Owe(t.Context(), 1) // without a meter
}

func TestMeter_BoundsBytes(t *testing.T) {
	t.Parallel()
	shares := NewShares()
	client := ratelimit.Client{User: 1}
	m := NewMeter(Options{Client: client, Shares: shares})
	if err := m.Written(MaxResponse); err != nil {
		t.Fatal(err)
	}
	if err := m.Written(MaxResponse + 1); !errors.Is(err, ErrResponseTooLarge) {
		t.Errorf("got %v", err)
	}
	if held := shares.Bytes.clients.UsedBy(client.Key()); held != MaxResponse {
		t.Errorf("%d bytes are held", held)
	}
	m.Close()
	if shares.Bytes.Used() != 0 {
		t.Error("bytes are held after the end of the operation")
	}
	var open []*Meter
	for range bytesOfHolder/MaxResponse + 1 {
		open = append(open, NewMeter(Options{Client: client, Shares: shares}))
	}
	for i, m := range open {
		err := m.Written(MaxResponse)
		if last := i == len(open)-1; (err != nil) != last {
			t.Errorf("response %d: %v", i, err)
		}
	}
	other := NewMeter(Options{Client: ratelimit.Client{User: 2}, Shares: shares})
	if err := other.Written(MaxResponse); err != nil {
		t.Errorf("another holder: %v", err)
	}
}
