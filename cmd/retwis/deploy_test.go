package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const deployDir = "../../deploy"

// settings returns the flags of each command, and all variables.
func settings(t *testing.T) (flags map[string][]string, variables []string) {
	t.Helper()
	parser, err := kong.New(&commands{}, kong.Name("retwis"))
	if err != nil {
		t.Fatal(err)
	}
	flags = map[string][]string{}
	var collect func(*kong.Node)
	collect = func(node *kong.Node) {
		name := strings.TrimPrefix(strings.TrimPrefix(node.FullPath(), "retwis"), " ")
		name, _, _ = strings.Cut(name, " (") // its aliases follow
		for _, group := range node.AllFlags(false) {
			for _, flag := range group {
				flags[name] = append(flags[name], flag.Name)
				if flag.Tag.Negatable != "" {
					flags[name] = append(flags[name], "no-"+flag.Name)
				}
				variables = append(variables, flag.Envs...)
			}
		}
		for _, child := range node.Children {
			collect(child)
		}
	}
	collect(parser.Model.Node)
	return flags, variables
}

// texts returns the contents of deploy/ and of the documents, by path.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(deployDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all[path] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(docs, "../../README.md") {
		all[path] = read(t, path)
	}
	return all
}

func TestDeployFiles_UseExistingFlagsAndVariables(t *testing.T) {
	t.Parallel()
	flags, variables := settings(t)
	variable := regexp.MustCompile(`\bRETWIS_[A-Z_]+\b`)
	// "retwis serve --flags" in units and texts, "[serve, --flags]" in compose.yaml.
	use := regexp.MustCompile("(?:\\bretwis |\\[)(serve|worker|seed|check|rebuild|doctor|deadletter list|deadletter requeue)\\b((?:,? *[^\\s`|;)(]+)*)")
	flag := regexp.MustCompile(`--([a-z][a-z-]*)`)
	seen, used := map[string]bool{}, 0
	ofTests := []string{"RETWIS_SOAK", "RETWIS_TEST_REDIS"}
	for path, text := range texts(t) {
		for _, name := range variable.FindAllString(text, -1) {
			seen[name] = true
			if !slices.Contains(variables, name) && !slices.Contains(ofTests, name) {
				t.Errorf("%s sets %s, which does not exist", path, name)
			}
		}
		for _, found := range use.FindAllStringSubmatch(text, -1) {
			for _, f := range flag.FindAllStringSubmatch(found[2], -1) {
				used++
				if !slices.Contains(flags[found[1]], f[1]) {
					t.Errorf("%s uses %q: %s has no --%s", path, found[0], found[1], f[1])
				}
			}
		}
	}
	if used < 10 {
		t.Errorf("found only %d flags in all texts", used)
	}
	table := read(t, "../../README.md")
	for _, name := range variables {
		if !strings.Contains(table, "| `"+name+"` |") && !strings.HasPrefix(name, "RETWIS_BENCH") {
			t.Errorf("the README does not list %s", name)
		}
	}
}

// TestReadme_ListsAllSettings compares the table of the README with the flags. It ignores rows that do not have four
// cells, so that their settings count as missing.
func TestReadme_ListsAllSettings(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("retwis"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(RETWIS_\\w+)` \\| (`[^`]+` \\| [^|]*?) *\\| [^|]+ \\|$")
	for _, found := range row.FindAllStringSubmatch(read(t, "../../README.md"), -1) {
		listed[found[1]] = found[2]
	}
	for _, node := range parser.Model.Children {
		if node.Name != "serve" {
			continue
		}
		for _, flag := range node.Flags {
			if len(flag.Envs) == 0 {
				continue
			}
			name, value := "--"+flag.Name, flag.Default
			if flag.Tag.Negatable != "" {
				name = "--[no-]" + flag.Name
			}
			if flag.IsBool() && value == "" {
				value = "false"
			}
			want := "`" + name + "` | "
			if value != "" {
				want += "`" + value + "`"
			}
			if got := listed[flag.Envs[0]]; got != want && (flag.Name != "partitions" || !strings.HasPrefix(got, want)) {
				t.Errorf("the README describes %s as %q, want %q", flag.Envs[0], got, want)
			}
			delete(listed, flag.Envs[0])
		}
	}
	for name := range listed {
		t.Errorf("the README lists %s, which serve does not have", name)
	}
}

// tool runs a tool that make deps installs.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		name = "/usr/sbin/" + name // not on the PATH of ordinary users
	}
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v (make deps installs it)\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestAlertRules_AreValid(t *testing.T) {
	t.Parallel()
	tool(t, "promtool", "check", "rules", "--lint-fatal", deployDir+"/prometheus/alerts.yaml")
}

func TestAlertRules_AreDocumented(t *testing.T) {
	t.Parallel()
	names := func(text, pattern string) (found []string) {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, match[1])
		}
		slices.Sort(found)
		return found
	}
	rules := names(read(t, deployDir+"/prometheus/alerts.yaml"), `(?m)- alert: (\w+)$`)
	explained := names(read(t, "../../docs/operations.md"), `(?m)^\| (Retwis\w+) \|`)
	if len(rules) == 0 || !slices.Equal(rules, explained) {
		t.Errorf("the alerts are %v, and docs/operations.md explains %v", rules, explained)
	}
}

func TestSystemdUnits_AreValid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	units, err := filepath.Glob(deployDir + "/systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for _, unit := range units {
		// The program is not installed.
		text := strings.ReplaceAll(read(t, unit), "/usr/local/bin/retwis ", program+" ")
		path := filepath.Join(dir, strings.Replace(filepath.Base(unit), "@.", "@8081.", 1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tool(t, "systemd-analyze", "verify", "--man=no", path)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=yes", "--threshold=25", filepath.Join(dir, "retwis-api@8081.service")).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// nginxConf writes a complete configuration that includes deploy/nginx with other addresses, and returns its
// path.
func nginxConf(t *testing.T, listen string, apis ...string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(read(t, deployDir+"/nginx/retwis.conf"), "listen 80;", "listen "+listen+";", 1)
	for i, api := range apis {
		text = strings.Replace(text, fmt.Sprintf("server api-%d:8080 ", i+1), "server "+api+" ", 1)
	}
	whole := fmt.Sprintf(`daemon off;
pid %[1]s/pid;
error_log stderr notice;
worker_processes 1;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path %[1]s/body;
    proxy_temp_path %[1]s/proxy;
    fastcgi_temp_path %[1]s/fastcgi;
    uwsgi_temp_path %[1]s/uwsgi;
    scgi_temp_path %[1]s/scgi;
%[2]s
}
`, dir, text)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNginxConfig_IsValid(t *testing.T) {
	t.Parallel()
	tool(t, "nginx", "-t", "-e", "stderr", "-c", nginxConf(t, "127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8082"))
}
