package retwis

import (
	"math"
	"strconv"
	"testing"
	"time"
)

func TestPostID_ContainsTimeAndBucket(t *testing.T) {
	t.Parallel()
	id := PostID(86_400_000*1_000_000 + 437*1000 + 5)
	if got, want := id.CreatedAt(), time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%s was made at %s, want %s", id, got, want)
	}
	if got := id.Bucket(); got != 437 {
		t.Errorf("%s is in bucket %d, want 437", id, got)
	}
	if got, want := id.EndOfMilli(), PostID(86_400_001*1_000_000); got != want {
		t.Errorf("the millisecond of %s ends before %s, want %s", id, got, want)
	}
}

func TestParseIDs_RefuseOtherForms(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "0", "-1", "+1", "01", " 1", "1 ", "1_0", "0x1", "1e3", "١", "9223372036854775808"} {
		if id, err := ParsePostID(s); err == nil {
			t.Errorf("%q is read as post %d", s, id)
		}
		if id, err := ParseUserID(s); err == nil {
			t.Errorf("%q is read as user %d", s, id)
		}
	}
	if id, err := ParseUserID("9007199254740992"); err == nil {
		t.Errorf("2^53 is read as user %d", id)
	}
	if id, err := ParseUserID("9007199254740991"); err != nil || id.Bucket() != 1023 {
		t.Errorf("2^53-1 is user %d of bucket %d, %v", id, id.Bucket(), err)
	}
	if id, err := ParsePostID("9223372036854775807"); err != nil || id != math.MaxInt64 {
		t.Errorf("2^63-1 is post %d, %v", id, err)
	}
}

func FuzzParseIDs(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "-1", "+1", "01", "1024", "9007199254740991", "9007199254740992", "9223372036854775807", "1\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseUserID(s); err == nil {
			if id.String() != s {
				t.Fatalf("%q and %q both name user %d", s, id, id)
			}
			if id <= 0 || id >= maxUserID || id.Bucket() < 0 || id.Bucket() >= Buckets {
				t.Fatalf("%q is read as user %d of bucket %d", s, id, id.Bucket())
			}
		}
		if id, err := ParsePostID(s); err == nil {
			if id.String() != s {
				t.Fatalf("%q and %q both name post %d", s, id, id)
			}
			if id <= 0 || id.Bucket() < 0 || id.Bucket() > 999 {
				t.Fatalf("%q is read as post %d of bucket %d", s, id, id.Bucket())
			}
		}
	})
}

func FuzzIDsRoundTrip(f *testing.F) {
	for _, seed := range []int64{math.MinInt64, -1, 0, 1, 1023, maxUserID - 1, maxUserID, math.MaxInt64} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		user, err := ParseUserID(UserID(n).String())
		if valid := n > 0 && n < maxUserID; (err == nil) != valid || (valid && user != UserID(n)) {
			t.Fatalf("user %d is read back as %d, %v", n, user, err)
		}
		post, err := ParsePostID(PostID(n).String())
		if valid := n > 0; (err == nil) != valid || (valid && post != PostID(n)) {
			t.Fatalf("post %d is read back as %d, %v", n, post, err)
		}
		if n > 0 && strconv.FormatInt(n, 10) != PostID(n).String() {
			t.Fatalf("post %d is written %q", n, PostID(n))
		}
	})
}
