package fanout_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/enginetest"
	"retwis/internal/store"
)

// engine adds the readers and expectations of this package to the shared one.
type engine struct{ *enginetest.Engine }

func newEngine(t *testing.T, options store.Options) *engine {
	t.Helper()
	return &engine{enginetest.New(t, options)}
}

// value returns the value of the counter of a metric with one label that has the given value.
func value(t enginetest.T, metrics *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name && metric.GetLabel()[0].GetValue() == label {
				return metric.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("there is no metric %s of %s", name, label)
	return 0
}
