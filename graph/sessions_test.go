package graph

import (
	"context"
	"testing"
	"testing/synctest"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

func TestSessions_ListsTheViewersSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice, bob := a.addUser("alice"), a.addUser("bob")
		phone, laptop := a.addSession(alice, "Phone/1.0"), a.addSession(alice, "")
		a.addSession(bob, "not hers")
		ctx := auth.WithIdentity(t.Context(), laptop)
		id, phoneID := globalSessionID(laptop.SessionID()), globalSessionID(phone.SessionID())
		const fields = `{ id createdAt lastSeenAt userAgent current }`
		mine := `{"id": "` + id + `", "createdAt": "2026-01-01T02:00:00.000Z", "lastSeenAt": "2026-01-01T02:01:00.000Z", "userAgent": null, "current": true}`
		other := `{"id": "` + phoneID + `", "createdAt": "2026-01-01T01:00:00.000Z", "lastSeenAt": "2026-01-01T01:01:00.000Z", "userAgent": "Phone/1.0", "current": false}`
		wantData(t, a.run(ctx, `{ viewer { sessions `+fields+` } }`, ""), `{"viewer": {"sessions": [`+mine+`,`+other+`]}}`)

		const nodes = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Session ` + fields + ` } }`
		ids := `{"ids": ["` + phoneID + `", "` + globalSessionID(a.sessions[0].ID) + `", "` + id + `"]}`
		wantData(t, a.run(ctx, nodes, ids), `{"nodes": [`+other+`, null, `+mine+`]}`)
		if calls := a.called("Sessions"); len(calls) != 2 {
			t.Errorf("a list and a set of nodes made the calls %q", calls)
		}
		for _, reader := range []*retwis.User{a.addUser("carol"), nil} {
			wantData(t, a.run(as(t, reader), nodes, ids), `{"nodes": [null, null, null]}`)
		}
	})
}

func TestRevokeSession_EndsOneSession(t *testing.T) {
	t.Parallel()
	const query = `mutation($id: ID!) { revokeSession(input: {sessionId: $id}) { revokedSessionId ` + userErrorFields + ` } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	phone, laptop, others := a.addSession(alice, ""), a.addSession(alice, ""), a.addSession(bob, "")
	revoke := func(ctx context.Context, id string) (string, *[]string) {
		ctx, set := cookies(ctx)
		response := a.run(ctx, query, `{"id": "`+id+`"}`)
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		return string(response.Data), set
	}
	ctx := auth.WithIdentity(t.Context(), laptop)

	for _, bad := range []string{globalSessionID(others.SessionID()), globalUserID(alice.ID), "", "nonsense"} {
		got, set := revoke(ctx, bad)
		wantJSON(t, got, `{"revokeSession": {"revokedSessionId": null, "userErrors": [
			{"code": "NOT_FOUND", "field": ["input", "sessionId"], "message": "session not found"}
		]}}`)
		wantCookies(t, set)
	}
	for range 2 {
		id := globalSessionID(phone.SessionID())
		got, set := revoke(ctx, id)
		wantJSON(t, got, `{"revokeSession": {"revokedSessionId": "`+id+`", "userErrors": []}}`)
		wantCookies(t, set)
	}
	id := globalSessionID(laptop.SessionID())
	got, set := revoke(ctx, id)
	wantJSON(t, got, `{"revokeSession": {"revokedSessionId": "`+id+`", "userErrors": []}}`)
	wantCookies(t, set, "")
	if len(a.sessions) != 1 || a.sessions[0].ID != others.SessionID() {
		t.Errorf("remaining sessions: %+v", a.sessions)
	}
	wantError(t, a.run(as(t, nil), query, `{"id": "`+id+`"}`), "UNAUTHENTICATED")
}
