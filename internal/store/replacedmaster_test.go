package store_test

import (
	"strings"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/storetest"
)

// A master that was frozen and replaced resumes. It answers the requests that it received meanwhile before it learns of its replacement. A
// process that does not know the failover either must not report the follows of before.
func TestFollows_DoNotReportTheStateOfAReplacedMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1, NodeTimeout: time.Second})
	cluster.AwaitHealthy()
	behind := storetest.Open(t, store.Options{URL: cluster.URL(), Timeout: 20 * time.Second})
	ids := storetest.Register(t, behind, "reader", "author")
	reader, author := ids[0], ids[1:]
	if follows, err := behind.Follows.Follows(t.Context(), reader, author); err != nil || follows[0] {
		t.Fatalf("before the follow: %v, %v", follows, err)
	}

	frozen := cluster.Master(rdb.SlotOfKey(behind.DB().OfUser(reader).Clock()))
	frozen.Pause()
	cluster.AwaitAvailable()
	var urls []string
	for _, node := range cluster.Nodes() {
		if node != frozen {
			urls = append(urls, node.URL())
		}
	}
	ahead := storetest.Open(t, store.Options{URL: strings.Join(urls, ","), Timeout: 20 * time.Second})
	if err := ahead.Follows.Follow(t.Context(), reader, author[0]); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		follows []bool
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		follows, err := behind.Follows.Follows(t.Context(), reader, author)
		answers <- answer{follows, err}
	}()
	<-time.After(time.Second) // the request reaches the frozen master
	frozen.Resume()
	if a := <-answers; a.err != nil || !a.follows[0] {
		t.Errorf("after the follow: %v, %v", a.follows, a.err)
	}
}
