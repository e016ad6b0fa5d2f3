// Package archtest checks the imports of all packages against the architecture.
package archtest

import (
	"fmt"
	"slices"
	"strings"
)

const module = "retwis"

// pkg is a package in the output of go list. Imports do not include those of tests, which may
// import any package.
type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
}

// allowed lists the packages of this module that a package may import. Subpackages without their own
// entry may import the same packages, and each other. Every package in internal/ needs an entry.
// Other packages without an entry, like cmd/retwis, may import all.
var allowed = map[string][]string{
	"graph":               {"internal/cost", "internal/fair", "graph/exec", "graph/limits", "graph/loaders", "internal/retwis", "internal/auth", "internal/ratelimit"},
	"graph/exec":          {"internal/netpoll"},
	"graph/limits":        {"internal/cost", "internal/netpoll", "internal/retwis", "internal/auth", "internal/ratelimit"},
	"graph/loaders":       {"internal/cost", "internal/retwis", "internal/auth"},
	"internal/archtest":   nil,
	"internal/auth":       {"internal/retwis"},
	"internal/cost":       {"internal/fair", "internal/ratelimit", "internal/retwis"},
	"internal/fair":       {"internal/netpoll"},
	"internal/check":      {"internal/retwis", "internal/sleep", "internal/outbox", "internal/record"},
	"internal/embedded":   {"internal/redisproc"},
	"internal/enginetest": {"internal/retwis", "internal/fanout", "internal/check", "internal/store", "internal/store/bulk", "internal/store/inspect", "internal/redistest"},
	"internal/fanout":     {"internal/retwis", "internal/sleep", "internal/outbox"},
	"internal/live":       {"internal/retwis", "internal/sleep", "internal/netpoll", "internal/pubsub", "internal/cost", "internal/ratelimit"},
	"internal/gctuner":    nil,
	"internal/netpoll":    nil,
	"internal/outbox":     {"internal/retwis"},
	"internal/postcache":  {"internal/retwis"},
	"internal/pubsub":     {"internal/retwis"},
	"internal/ratelimit":  {"internal/retwis", "internal/sleep"},
	"internal/record":     {"internal/retwis"},
	"internal/roundtrip":  nil,
	"internal/redisproc":  nil,
	"internal/faultproxy": nil,
	"internal/redistest":  {"internal/faultproxy", "internal/redisproc"},
	"internal/retwis":     nil,
	"internal/seed":       {"internal/retwis", "internal/sleep"},
	"internal/server":     {"internal/cost", "internal/fair", "internal/retwis", "internal/auth", "internal/ratelimit", "internal/server/broadcast", "internal/sleep", "internal/server/clients", "internal/server/gqlsse", "internal/server/gqlws", "internal/server/httpapi", "internal/server/operation", "internal/server/requestid", "internal/server/wsconn"},
	"internal/logsample":  nil,
	"internal/sleep":      nil,
	"internal/store":      {"internal/cost", "internal/postcache", "internal/sleep", "internal/retwis", "internal/outbox", "internal/pubsub", "internal/ratelimit", "internal/store/rdb", "internal/store/script"},
	"internal/tracing":    nil,

	// The torture program uses only the public API of the service.
	"internal/torture":          nil,
	"internal/torture/fault":    {"internal/faultproxy", "internal/redisproc"},
	"internal/torture/history":  nil,
	"internal/torture/validate": {"internal/torture/history"},
	"internal/torture/workload": {"internal/torture/history", "internal/torture/validate"},
	"web":                       nil,
	"internal/buildinfo":        nil,
	"internal/terminal":         nil,
	"internal/cli":              nil,
	"internal/programtest":      {"internal/redistest"},

	"internal/store/bulk":      {"internal/retwis", "internal/store", "internal/store/rdb", "internal/store/script"},
	"internal/store/inspect":   {"internal/retwis", "internal/record", "internal/store", "internal/store/rdb", "internal/store/script"},
	"internal/store/rdb":       {"internal/cost", "internal/fair", "internal/retwis", "internal/pubsub", "internal/ratelimit", "internal/roundtrip", "internal/sleep", "internal/store/script"},
	"internal/store/script":    nil,
	"internal/store/storetest": {"internal/retwis", "internal/store"},

	"internal/server/broadcast":  {"internal/cost", "internal/fair", "internal/netpoll", "internal/ratelimit", "internal/retwis", "internal/auth", "internal/sleep", "internal/server/operation"},
	"internal/server/buffer":     nil,
	"internal/server/deflate":    nil,
	"internal/server/clients":    {"internal/retwis", "internal/auth", "internal/netpoll", "internal/ratelimit", "internal/sleep", "internal/server/operation"},
	"internal/server/gqlsse":     {"internal/cost", "internal/fair", "internal/ratelimit", "internal/retwis", "internal/server/broadcast", "internal/server/buffer", "internal/server/clients", "internal/server/httpapi", "internal/server/operation"},
	"internal/server/gqlws":      {"internal/cost", "internal/fair", "internal/retwis", "internal/auth", "internal/ratelimit", "internal/server/broadcast", "internal/server/clients", "internal/server/httpapi", "internal/server/operation", "internal/server/requestid", "internal/server/wsconn"},
	"internal/server/httpapi":    {"internal/cost", "internal/fair", "internal/retwis", "internal/auth", "internal/ratelimit", "internal/server/buffer", "internal/server/clients", "internal/server/deflate", "internal/server/operation"},
	"internal/server/operation":  {"internal/cost", "internal/ratelimit", "internal/retwis", "internal/roundtrip", "internal/server/requestid"},
	"internal/server/requestid":  nil,
	"internal/server/servertest": {"internal/ratelimit", "internal/retwis", "internal/auth", "internal/server", "internal/server/operation", "internal/server/requestid"},
	"internal/server/wsconn":     {"internal/fair", "internal/server/buffer", "internal/server/deflate"},

	// The measurements import the packages that they measure. Only their command imports them.
	"internal/bench/database": {"internal/store/bulk", "internal/store/inspect", "internal/bench/measure", "internal/bench/world", "internal/retwis", "internal/auth", "internal/check", "internal/seed"},
	"internal/bench/engine":   {"internal/store/bulk", "internal/bench/measure", "internal/bench/world", "internal/retwis"},
	"internal/bench/live":     {"internal/bench/load", "internal/bench/measure", "internal/bench/process", "internal/bench/world", "internal/retwis", "internal/store", "internal/auth", "internal/ratelimit", "internal/live", "internal/server", "graph"},
	"internal/bench/load":     {"internal/sleep"},
	"internal/bench/measure":  nil,
	"internal/bench/page":     {"internal/store/bulk", "internal/bench/load", "internal/bench/measure", "internal/bench/process", "internal/bench/world", "internal/retwis", "internal/store", "internal/auth", "internal/ratelimit", "internal/live", "internal/server", "graph"},
	"internal/bench/process":  {"internal/gctuner"},
	"internal/bench/service":  {"internal/store/bulk", "internal/seed", "internal/bench/load", "internal/bench/measure", "internal/bench/page", "internal/bench/process", "internal/bench/world", "internal/retwis", "internal/auth", "internal/faultproxy"},
	"internal/bench/world":    {"internal/store/bulk", "internal/store/rdb", "internal/retwis", "internal/store", "internal/fanout", "internal/auth", "internal/redisproc", "internal/sleep"},
}

// restricted lists the packages that only some packages may import. A path includes its
// subdirectories.
var restricted = []struct {
	path string
	by   []string
}{
	{"github.com/redis/go-redis", []string{"internal/store", "internal/embedded", "internal/redistest", "internal/enginetest", "internal/bench", "internal/torture/fault"}},
	{"github.com/alicebob/miniredis", []string{"internal/embedded"}},
	{"testing", []string{"internal/enginetest", "internal/programtest", "internal/redistest", "internal/server/servertest", "internal/store/storetest"}},
	{"go.uber.org/goleak", []string{"internal/redistest"}},
	{module + "/internal/redistest", []string{"internal/programtest", "internal/enginetest"}},
	{module + "/internal/enginetest", nil},
	{module + "/internal/programtest", nil},
	{module + "/internal/server/servertest", nil},
	{module + "/internal/bench", []string{"cmd/retwis-bench"}},
}

// fromOutside lists the other modules that a package may import besides the standard library.
// Packages without an entry may import all.
var fromOutside = map[string][]string{
	"internal/retwis": {"github.com/clipperhouse/uax29/v2", "golang.org/x/text"},
}

// vague lists package names that do not describe a subject.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc"}

// violations returns a line for each violation of the rules.
func violations(packages []pkg) []string {
	var found []string
	for _, p := range packages {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		if slices.Contains(vague, p.Name) {
			found = append(found, fmt.Sprintf("%s: the package name %s is too vague", path, p.Name))
		}
		layer, ruled := layerOf(path)
		if !ruled && below(path, "internal") {
			found = append(found, path+": is missing in the table of allowed imports")
		}
		for _, imported := range p.Imports {
			if !mayImport(layer, ruled, path, imported) {
				found = append(found, fmt.Sprintf("%s: may not import %s", path, imported))
			}
		}
	}
	return found
}

// layerOf returns the closest entry of a package in the table.
func layerOf(path string) (layer string, found bool) {
	for l := range allowed {
		if below(path, l) && len(l) >= len(layer) {
			layer, found = l, true
		}
	}
	return layer, found
}

func mayImport(layer string, ruled bool, path, imported string) bool {
	for _, o := range restricted {
		if below(imported, o.path) && !below(path, strings.TrimPrefix(o.path, module+"/")) && !belowAny(path, o.by) {
			return false
		}
	}
	if own, isOurs := strings.CutPrefix(imported, module+"/"); isOurs {
		of, _ := layerOf(own)
		return !ruled || of == layer || slices.Contains(allowed[layer], of)
	}
	modules, limited := fromOutside[layer]
	return !limited || standard(imported) || belowAny(imported, modules)
}

// below reports whether a path is a directory or inside it.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}

func belowAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return below(path, dir) })
}

// standard reports whether a package belongs to the standard library. The paths of other
// modules begin with a host name.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
