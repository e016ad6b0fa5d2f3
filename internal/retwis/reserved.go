package retwis

import (
	"slices"
	"strings"
)

// isReserved reports whether a folded name is reserved: a name of the service or its staff, a
// name that looks like one of these, or a path of the service or the app. The lists omit
// names that are too short for a username.
func isReserved(folded string) bool {
	return slices.Contains(staffNames(), folded) || slices.Contains(specialWords(), folded) ||
		slices.Contains(paths(), folded) || imitates(folded)
}

const serviceName = "retwis"

// staffNames returns names that users would attribute to the service or its staff.
func staffNames() []string {
	return []string{
		serviceName, "abuse", "admin", "administrator", "hostmaster", "mod", "moderator", "official", "operator",
		"postmaster", "root", "security", "staff", "superuser", "support", "sysadmin", "sysop", "system",
		"verified", "webmaster",
	}
}

// specialWords returns words with a special meaning in texts and programs.
func specialWords() []string {
	return []string{
		"all", "anonymous", "deleted", "everybody", "everyone", "nobody", "none", "null", "undefined",
	}
}

// paths returns the first segments of current and possible future paths of the API and the app.
func paths() []string {
	return []string{
		"about", "account", "accounts", "api", "app", "assets", "auth", "blog", "contact", "debug", "docs", "explore",
		"favicon", "feed", "follow", "followers", "following", "graphiql", "graphql", "health", "healthz", "help", "home",
		"index", "legal", "list", "lists", "live", "login", "logout", "mentions", "metrics", "new", "node",
		"notifications", "password", "playground", "post", "posts", "privacy", "profile", "public", "readyz", "register",
		"robots", "search", "session", "sessions", "settings", "signin", "signout", "signup", "static", "status",
		"subscriptions", "terms", "timeline", "timelines", "trends", "users", "viewer", "www",
	}
}

// imitates reports whether a folded name looks like one of [staffNames], alone or combined
// with the name of the service: adm1n, r00t, _support_, retwis_help.
func imitates(folded string) bool {
	look, service := lookOf(folded), lookOf(serviceName)
	if looksLikeOneOf(look, staffNames()) {
		return true
	}
	rest, found := strings.CutPrefix(look, service)
	if !found {
		rest, found = strings.CutSuffix(look, service)
	}
	return found && (looksLikeOneOf(rest, staffNames()) || looksLikeOneOf(rest, []string{"app", "bot", "help", "info", "news", "team"}))
}

// looksLikeOneOf reports whether a result of [lookOf] is that of a name or of its plural.
func looksLikeOneOf(look string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return look == lookOf(name) || look == lookOf(name+"s")
	})
}

// lookOf returns a form that is equal for names that are easily confused: without
// underscores, and with digits replaced by the letters that they resemble.
func lookOf(folded string) string {
	return strings.NewReplacer(
		"_", "", "0", "o", "1", "l", "i", "l", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "vv", "w", "rn", "m",
	).Replace(folded)
}
