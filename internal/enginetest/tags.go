package enginetest

import "retwis/internal/retwis"

// verifyTags compares the timelines of all hashtags. Posts beyond their cap are lost, as those of mentions are.
func (m *Model) verifyTags(e *Engine, homeCap, slack int) {
	e.T.Helper()
	for name, posts := range m.tagged {
		tag, err := e.Tags.TagByName(e.T.Context(), name)
		if err != nil {
			e.T.Fatal(err)
		}
		tagged := Newest(posts)
		got, want := e.Read(retwis.TagPosts(tag.ID)), m.kept(tagged)
		sure := m.kept(tagged[:min(len(tagged), max(0, homeCap-slack))])
		if len(Surplus(got, want)) > 0 || len(Surplus(sure, got)) > 0 {
			e.T.Errorf("hashtag %s: missing %v, extra or duplicate %v", name, Surplus(sure, got), Surplus(got, want))
		}
	}
}
