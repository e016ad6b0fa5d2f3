package retwis

import (
	"slices"
	"strings"
)

// isReserved reports whether a folded name speaks for the service, looks as if it did, or
// is or may become a path of it. Names that are too short to be given are left out.
func isReserved(folded string) bool {
	return slices.Contains(believed(), folded) || slices.Contains(meaningful(), folded) ||
		slices.Contains(paths(), folded) || imitates(folded)
}

const serviceName = "retwis"

// believed are the names of those who would be.
func believed() []string {
	return []string{
		serviceName, "abuse", "admin", "administrator", "hostmaster", "mod", "moderator", "official", "operator",
		"postmaster", "root", "security", "staff", "superuser", "support", "sysadmin", "sysop", "system",
		"verified", "webmaster",
	}
}

// meaningful are words with a meaning of their own in texts and programs.
func meaningful() []string {
	return []string{
		"all", "anonymous", "deleted", "everybody", "everyone", "nobody", "none", "null", "undefined",
	}
}

// paths are first segments of paths, of the API and of the app, and what may become one.
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

// imitates reports whether a folded name looks like that of somebody who would be
// believed, alone or put together with the name of the service: adm1n, r00t, _support_,
// retwis_help.
func imitates(folded string) bool {
	look, service := lookOf(folded), lookOf(serviceName)
	if looksLikeOneOf(look, believed()) {
		return true
	}
	rest, found := strings.CutPrefix(look, service)
	if !found {
		rest, found = strings.CutSuffix(look, service)
	}
	return found && (looksLikeOneOf(rest, believed()) || looksLikeOneOf(rest, []string{"app", "bot", "help", "info", "news", "team"}))
}

// looksLikeOneOf compares the look of a name with that of others and of their plurals.
func looksLikeOneOf(look string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return look == lookOf(name) || look == lookOf(name+"s")
	})
}

// lookOf returns what names have in common that are hard to tell apart: underscores count
// for nothing, and digits for the letters that they are taken for.
func lookOf(folded string) string {
	return strings.NewReplacer(
		"_", "", "0", "o", "1", "l", "i", "l", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "vv", "w", "rn", "m",
	).Replace(folded)
}
