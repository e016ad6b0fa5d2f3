package live

import "retwis/internal/retwis"

// postSet is a set of posts. A sketch of it tells without a look-up in the map that it lacks nearly all other posts: each second,
// all newest posts of all timelines are looked up.
type postSet struct {
	posts  map[retwis.PostID]struct{}
	sketch [256]uint64 // for each post, a bit whose number is a hash of the id
}

func (s *postSet) add(post retwis.PostID) {
	if s.posts == nil {
		s.posts = map[retwis.PostID]struct{}{}
	}
	s.posts[post] = struct{}{}
	word, bit := sketched(post)
	s.sketch[word] |= bit
}

func (s *postSet) has(post retwis.PostID) bool {
	if word, bit := sketched(post); s.sketch[word]&bit == 0 {
		return false
	}
	_, ok := s.posts[post]
	return ok
}

// sketched returns where a sketch has the bit of a post: a hash by multiplication (Knuth, The Art of Computer Programming, 6.4).
func sketched(post retwis.PostID) (word int, bit uint64) {
	hash := uint64(post) * 0x9E3779B97F4A7C15
	return int(hash >> 56), 1 << (hash >> 50 & 63)
}
