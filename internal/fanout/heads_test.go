package fanout

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// More authors than a runner remembers have entries, which all wait for rounds that serve a few. Each of them is served once before somebody is served again.
func TestReadyHeads_NobodyWaitsForUsersWhoWereServed(t *testing.T) {
	t.Parallel()
	const authors, ofRound, cycles = 5 * window, 100, 3
	r := newRunner(New(nil, nil, Options{}), 0, "")
	var entries []outbox.Entry
	for range cycles {
		for author := range authors {
			entries = append(entries, outbox.Entry{ID: fmt.Sprintf("1-%d", len(entries)), Kind: outbox.KindPost, Author: retwis.UserID(author + 1)})
		}
	}
	r.admit(entries)
	for cycle := range cycles {
		served := map[retwis.UserID]bool{}
		for range authors / ofRound {
			r.dequeueDone()
			for _, w := range r.turns.first(r.readyHeads(), ofRound) {
				if served[w.Author] {
					t.Fatalf("cycle %d: author %d was served twice before others", cycle, w.Author)
				}
				served[w.Author] = true
				r.turns.serve(w)
				w.done = true
			}
			r.turns.forget(len(r.queues))
			if users, networks := len(r.turns.users), len(r.turns.networks); max(users, networks) > 2*(authors+window) {
				t.Fatalf("%d users and %d networks are remembered", users, networks)
			}
		}
	}
}

// Attack: deletions with a thousand targets each were finished behind an entry that takes minutes. Each took 109 KB until they were trimmed.
func TestReadAhead_CountsTheTargetsOfFinishedEntries(t *testing.T) {
	t.Parallel()
	r := newRunner(New(nil, nil, Options{}), 0, "")
	const deletions, targets = 2 * window, 1000
	var entries []outbox.Entry
	for i := range deletions {
		entries = append(entries, outbox.Entry{ID: fmt.Sprint("1-", i), Kind: outbox.KindDelete, Author: retwis.UserID(i + 1)})
	}
	r.admit(entries)
	finish := func(w *workItem) {
		w.targets = make([]*target, targets)
		r.complete(w)
	}
	for _, w := range r.entries[1:] {
		finish(w)
	}
	if r.readAhead() != nil {
		t.Errorf("it reads further entries while %d targets are in memory", (deletions-1)*targets)
	}
	again := r.entries[1]
	again.done = false // its delivery was lost
	r.wait(again, 1)
	finish(again)
	finish(r.entries[0])
	r.trimDone(t.Context(), trimResult{entries: len(r.entries)})
	if n := r.held.Load(); n != 0 {
		t.Errorf("%d entries count after all were trimmed", n)
	}
	if r.readAhead() == nil {
		t.Error("it reads no further entries after all were trimmed")
	}
}

// Each post of a quiet outbox had a trim of its own, which has as many scripts as the delivery.
func TestTrims_Rest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var trims trimRests
		begun := 0
		trim := func(took time.Duration) {
			if !trims.begin(time.Now()).After(time.Now()) {
				begun++
				time.Sleep(took)
				trims.took(took)
			}
		}
		for start := time.Now(); time.Since(start) < time.Second; time.Sleep(time.Millisecond) {
			trim(3 * time.Millisecond)
		}
		if least, most := 55, 70; begun < least || begun > most { // one in 3 + 4*3 ms
			t.Errorf("%d trims in a second, want %d to %d", begun, least, most)
		}
		trim(time.Minute) // a replica does not answer
		if rest := time.Until(trims.begin(time.Now())); rest > maxTrimRest {
			t.Errorf("the next trim waits for %v", rest)
		}
		time.Sleep(maxTrimRest)
		if now := time.Now(); trims.begin(now).After(now) || !trims.begin(now).After(now) {
			t.Error("one trim should begin, and not two at once")
		}
	})
}

// Attack: 21 000 posts were done behind an entry that was not, and could not be trimmed. The worker read no further ones, and posts of others in that
// outbox were not delivered.
func TestReadAhead_FinishedEntriesDoNotStopIt(t *testing.T) {
	t.Parallel()
	r := newRunner(New(nil, nil, Options{}), 0, "")
	admit := func(n int) {
		var entries []outbox.Entry
		for i := range n {
			entries = append(entries, outbox.Entry{ID: fmt.Sprint("1-", len(r.entries)+i), Kind: outbox.KindPost, Author: retwis.UserID(i)})
		}
		r.admit(entries)
	}
	admit(maxHeld + 1)
	if r.readAhead() != nil {
		t.Errorf("it reads further entries while %d are not finished", r.unfinished)
	}
	for _, w := range r.entries[1:] {
		r.complete(w)
	}
	admit(window / 2)
	if r.readAhead() == nil {
		t.Errorf("it reads no further entries while %d are not finished", r.unfinished)
	}
	admit(maxUntrimmed)
	for _, w := range r.entries[1:] {
		if !w.done {
			r.complete(w)
		}
	}
	if r.readAhead() != nil {
		t.Errorf("it reads further entries while %d are in memory", len(r.entries))
	}
}

// Attack: the deletion of two accounts with a thousand posts each on thousands of watched lists took a core for a minute.
func TestRest_DeletionsHaveARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(New(nil, nil, Options{}), 0, "")
		r.admit([]outbox.Entry{
			{ID: "1-1", Kind: outbox.KindDelete, Author: 1},
			{ID: "1-2", Kind: outbox.KindPost, Author: 2},
			{ID: "1-3", Kind: outbox.KindPost, Author: 1}, // behind the deletion
		})
		ready := func(want ...string) {
			t.Helper()
			var ids []string
			for _, w := range r.readyHeads() {
				ids = append(ids, w.ID)
			}
			if !slices.Equal(ids, want) {
				t.Errorf("the ready entries are %v, want %v", ids, want)
			}
		}
		network := r.entries[0].actor.Network
		ready("1-1", "1-2")
		r.turns.rest(network, restBurst)
		ready("1-1", "1-2")
		r.turns.rest(network, 600*announceRest) // of two outboxes at once
		r.turns.rest(network, 400*announceRest)
		r.turns.rest("another network", 10_000*announceRest)
		time.Sleep(49 * time.Millisecond)
		ready("1-2")
		if due := r.untilDue(); due > time.Millisecond {
			t.Errorf("the deletion is due in %v, want 1ms", due)
		}
		time.Sleep(time.Millisecond)
		ready("1-1", "1-2")
	})
}

// Attack: 2300 deletions of posts that 5000 watched lists show rested for ten minutes at the head of an outbox. The entries behind them were done and
// could not be trimmed, so the worker read no further ones.
func TestRest_DeletionsDoNotHoldTheOutbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const deletions = 1000
		r := newRunner(New(nil, nil, Options{}), 0, "")
		for i := range deletions {
			r.admit([]outbox.Entry{{ID: fmt.Sprint("1-", i+1), Kind: outbox.KindDelete, Author: retwis.UserID(i), Origin: "192.0.2.1"}})
		}
		announced, start := 0, time.Now()
		for len(r.queues) > 0 {
			for _, w := range r.turns.first(r.readyHeads(), maxCalls) {
				if !w.silent {
					announced += 5000
					r.turns.rest(w.actor.Network, 5000*announceRest)
				}
				r.complete(w)
			}
			r.dequeueDone()
			time.Sleep(2 * time.Millisecond)
		}
		if took, most := time.Since(start), announceFor+3*time.Second; took > most {
			t.Errorf("the deletions took %v, want %v at most", took, most)
		}
		if least := 20_000 * int(announceFor/time.Second); announced < least || int64(announced/5000)+r.counts.silent.Load() != deletions {
			t.Errorf("%d announcements, want %d at least; %d silent deletions", announced, least, r.counts.silent.Load())
		}
	})
}

// Attack: 120 accounts with 600 posts each were deleted at once, and live events of others came up to 14 s later: their posts waited behind 17 000 entries
// that the worker had not read yet.
func TestReadyHeads_AccountDeletionsWaitForDeliveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(nil, nil, Options{})
		r := newRunner(w, 0, "")
		r.admit([]outbox.Entry{{ID: "1-1", Kind: outbox.KindDeleteAccount, User: 1}, {ID: "1-2", Kind: outbox.KindPost, Author: 2}})
		kinds := func() (ready []outbox.Kind) {
			time.Sleep(stepPause)
			for _, w := range r.readyHeads() {
				ready = append(ready, w.Kind)
			}
			slices.Sort(ready)
			return ready
		}
		all, posts := []outbox.Kind{outbox.KindDeleteAccount, outbox.KindPost}, []outbox.Kind{outbox.KindPost}
		expect := func(when string, want []outbox.Kind) {
			t.Helper()
			if got := kinds(); !slices.Equal(got, want) {
				t.Errorf("%s, %v may advance, want %v", when, got, want)
			}
		}
		expect("at first", all)
		r.waiting.deletions.Add(manyDeletions)
		expect("while many deletions wait", posts)
		if due := r.untilDue(); due > stepPause {
			t.Errorf("the deletion is tried again after %v, want %v at most", due, stepPause)
		}
		r.waiting.deletions.Add(-manyDeletions)
		expect("afterwards", all)
		w.held.Add(maxHeld / 2)
		expect("as the oldest entry, behind which none can be trimmed", all)
		r.entries[0], r.entries[1] = r.entries[1], r.entries[0]
		expect("behind another entry", posts)
		r.complete(r.entries[0])
		expect("as the oldest entry that is left", all)
		w.held.Add(-maxHeld / 2)
		w.waiting.step.Store(true)
		expect("beside the step of another deletion", posts)
		w.waiting.step.Store(false)
		expect("after it", all)
		r.admit([]outbox.Entry{{ID: "1-3", Kind: outbox.KindDelete, Author: 1}})
		expect("beside the deletion of a post of the step before", []outbox.Kind{outbox.KindDelete, outbox.KindPost})
		r.complete(r.entries[2])
		r.dequeueDone()
		expect("after that", []outbox.Kind{outbox.KindDeleteAccount})
	})
}

// blockedSteps are tasks of which steps of account deletions fail once they may end.
type blockedSteps struct {
	Tasks
	began atomic.Int64
	end   chan struct{}
}

func (b *blockedSteps) DeleteAccountStep(context.Context, retwis.UserID, int64) error {
	b.began.Add(1)
	<-b.end
	return retwis.ErrNotReplicated
}

// Steps that waited for the same one were ready at the same moment, and all of them began.
func TestStartTasks_OneStepOfAnAccountDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		steps := &blockedSteps{end: make(chan struct{})}
		w := New(nil, steps, Options{})
		runners := []*runner{newRunner(w, 0, ""), newRunner(w, 1, "")}
		for i, r := range runners {
			r.admit([]outbox.Entry{
				{ID: "1-1", Kind: outbox.KindDeleteAccount, User: retwis.UserID(10*i + 1)}, {ID: "1-2", Kind: outbox.KindDeleteAccount, User: retwis.UserID(10*i + 2)},
			})
		}
		ready := [][]*workItem{runners[0].readyHeads(), runners[1].readyHeads()}
		for i, r := range runners {
			r.startTasks(t.Context(), ready[i])
		}
		synctest.Wait()
		if began := steps.began.Load(); began != 1 {
			t.Errorf("%d steps run", began)
		}
		steps.end <- struct{}{}
		runners[0].taskDone(t.Context(), <-runners[0].finished)
		time.Sleep(stepPause)
		runners[1].startTasks(t.Context(), runners[1].readyHeads())
		synctest.Wait()
		if began := steps.began.Load(); began != 2 {
			t.Errorf("%d steps have begun after the first one, want the next one", began)
		}
		close(steps.end)
		<-runners[1].finished
	})
}

// Attack: sixty users of a network reposted to hundreds of watched homes. Each of these takes Redis twenty times as long as another one, so a round had
// far more work than it counted, and the posts of others waited for that.
func TestRest_RepostsRestForSearches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(New(nil, nil, Options{}), 0, "")
		const attacker, other = "192.0.2.1", "198.51.100.1"
		r.admit([]outbox.Entry{
			{ID: "1-1", Kind: outbox.KindPost, Author: 1, Reposted: 100, Origin: attacker},
			{ID: "1-2", Kind: outbox.KindPost, Author: 2, Origin: attacker},
			{ID: "1-3", Kind: outbox.KindPost, Author: 3, Reposted: 100, Origin: other},
		})
		repost, post, ofOther := r.entries[0], r.entries[1], r.entries[2]
		homes := &target{expected: 100}
		const unsearched = callCost + 100
		work := func(w *workItem) int { return w.work(homes, r.turns.searches(w)) }
		if got := work(repost); got != unsearched {
			t.Errorf("the work of the first call is %d, want %d: nobody may watch", got, unsearched)
		}
		for range 20 {
			r.turns.noteSearches(repost, outbox.Result{Served: 12, Searched: 48})
			r.turns.noteSearches(post, outbox.Result{Served: 500})
		}
		if got, want := work(repost), unsearched+mostSearches*searchWork; got != want {
			t.Errorf("the work of a call for homes that are watched is %d, want %d", got, want)
		}
		for _, w := range []*workItem{post, ofOther} {
			if got := work(w); got != unsearched {
				t.Errorf("the work of a call for entry %s is %d, want %d", w.ID, got, unsearched)
			}
		}
		r.turns.rest(repost.actor.Network, 2*restBurst)
		var ready []string
		for _, w := range r.readyHeads() {
			ready = append(ready, w.ID)
		}
		if !slices.Equal(ready, []string{"1-2", "1-3"}) {
			t.Errorf("the ready entries are %v, want the post, and the repost of another network", ready)
		}
		time.Sleep(restBurst)
		if n := len(r.readyHeads()); n != 3 {
			t.Errorf("%d entries are ready after the rest", n)
		}
		r.turns.rest(repost.actor.Network, time.Minute)
		r.waiting.entries.Store(manyWaiting)
		if n := len(r.readyHeads()); n != 3 {
			t.Errorf("%d entries are ready while the worker is behind", n)
		}
		if got := r.turns.searches(&workItem{Entry: outbox.Entry{Kind: outbox.KindDelete, Reposted: 100}, actor: repost.actor}); got != 0 {
			t.Errorf("the removal of a repost searches %v lists for each timeline", got)
		}
	})
}

// With hundreds of partitions, thousands of tasks waited for their turns for so long that they began without them, all at once.
func TestStartTasks_AWorkerHasABoundOfThem(t *testing.T) {
	t.Parallel()
	w := New(nil, nil, Options{})
	r := newRunner(w, 0, "")
	r.admit([]outbox.Entry{
		{ID: "1-1", Kind: outbox.KindBackfill, Timeline: retwis.Home(1), User: 1, Origin: "192.0.2.1"},
		{ID: "1-2", Kind: outbox.KindBackfill, Timeline: retwis.Home(2), User: 2, Origin: "198.51.100.1"},
	})
	crowded, other := r.entries[0], r.entries[1]
	r.tasks, r.tasksOf[crowded.actor.Network] = 1, 1
	for running, want := range map[int64]bool{tasksAtOnce - 1: true, tasksAtOnce: false} {
		w.running.Store(running)
		if got := r.mayStart(crowded); got != want {
			t.Errorf("while %d tasks run, another one of the same network may start: %t", running, got)
		}
		if !r.mayStart(other) {
			t.Errorf("while %d tasks run, that of another network may not start", running)
		}
	}
}

// thousandPartitions are those of a database with more of them than by default.
type thousandPartitions struct{ Outbox }

func (thousandPartitions) Partitions() int { return 1000 }

func (thousandPartitions) PartitionOfUser(user retwis.UserID) int { return int(user) }

func (thousandPartitions) PartitionOf(id retwis.TimelineID) int { return int(id.Owner) }

// The followers of those who reposted a post may be in all partitions. With hundreds of these, its deletion had tens of thousands of calls.
func TestTargetsOfReposts_AreBounded(t *testing.T) {
	t.Parallel()
	r := newRunner(New(thousandPartitions{}, nil, Options{}), 0, "")
	for _, partitions := range []int{16, 200} {
		var of reposts
		for user := range retwis.UserID(30) {
			in := outbox.AuthorPartitions{Followers: map[int]int{}, Lists: map[int]bool{}}
			for p := range partitions {
				in.Followers[p], in.Lists[p] = 1, true
			}
			of.by, of.partitions = append(of.by, user), append(of.partitions, in)
		}
		targets := r.targetsOfReposts(of)
		if len(targets) > maxRepostTargets {
			t.Errorf("followers in %d partitions are %d targets", partitions, len(targets))
		}
		if all := targets[0].to == outbox.TargetWatched; all != (partitions > 16) {
			t.Errorf("the deletion is announced to all watched timelines, with followers in %d partitions: %t", partitions, all)
		}
	}
}

// Attack: 6000 accounts followed a user. Those whom the user mentioned had the posts 50 ms later, after the homes of these accounts.
func TestTargets_FewMentionsComeBeforeHomes(t *testing.T) {
	t.Parallel()
	r := newRunner(New(thousandPartitions{}, nil, Options{}), 0, "")
	var mentioned []retwis.UserID
	for user := range retwis.UserID(firstMentions + 2) {
		mentioned = append(mentioned, user+1)
	}
	post := outbox.Entry{Kind: outbox.KindPost, Author: 100, Post: 1, Mentions: mentioned}
	targets := r.targetsOfPost(post, outbox.AuthorPartitions{Followers: map[int]int{0: 1, 1: 1}})
	seen := map[retwis.TimelineID]int{}
	for i, target := range targets {
		if isHome := target.to == outbox.TargetFollowers; isHome != (i == firstMentions || i == firstMentions+1) {
			t.Errorf("target %d is that of homes: %v", i, isHome)
		}
		if target.to == outbox.TargetTimeline {
			seen[target.timeline]++
		}
	}
	for _, id := range post.Timelines() {
		if seen[id] != 1 {
			t.Errorf("timeline %s is %d times among the targets, want once", id, seen[id])
		}
	}
	if want := len(post.Timelines()) + 2; len(targets) != want {
		t.Errorf("%d targets, want %d", len(targets), want)
	}
}
