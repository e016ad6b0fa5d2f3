//go:build deploy

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// These tests need no container engine and build no image. They execute the steps of the Dockerfile in an empty
// directory, and the processes of compose.yaml.

// step is one instruction of a Dockerfile.
type step struct{ instruction, arguments string }

// stages parses the Dockerfile. It returns the steps and the base image of each stage.
func stages(t *testing.T) (names []string, bases map[string]string, steps map[string][]step) {
	t.Helper()
	bases, steps = map[string]string{}, map[string][]step{}
	text := strings.ReplaceAll(read(t, deployDir+"/Dockerfile"), "\\\n", " ")
	stage := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		instruction, arguments, _ := strings.Cut(line, " ")
		if instruction == "FROM" {
			base, name, named := strings.Cut(arguments, " AS ")
			if !named {
				name = "final"
			}
			stage = name
			names, bases[stage] = append(names, stage), base
			continue
		}
		steps[stage] = append(steps[stage], step{instruction, arguments})
	}
	return names, bases, steps
}

// buildImage executes the Dockerfile, with a directory in place of the root file system of each stage. It returns
// the directory and the settings of the last stage.
func buildImage(t *testing.T) (root string, image map[string][]string) {
	t.Helper()
	names, bases, steps := stages(t)
	if bases["final"] != "scratch" || !strings.HasPrefix(bases["build"], "golang:") || !strings.HasPrefix(bases["web"], "node:") {
		t.Fatalf("the stages begin with %v", bases)
	}
	roots, context, ignored := map[string]string{}, checkout(t), ignores(t)
	image = map[string][]string{}
	for _, name := range names {
		at, dir := t.TempDir(), ""
		roots[name] = at
		for _, s := range steps[name] {
			switch s.instruction {
			case "WORKDIR":
				dir = s.arguments
				if err := os.MkdirAll(filepath.Join(at, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			case "COPY":
				from, arguments := context, strings.Fields(s.arguments)
				for strings.HasPrefix(arguments[0], "--") {
					if stage, ok := strings.CutPrefix(arguments[0], "--from="); ok {
						from, ignored = roots[stage], nil
						if strings.HasPrefix(arguments[len(arguments)-2], "/etc/ssl/") {
							from = "/" // of the base image, which is not available
						}
					}
					arguments = arguments[1:]
				}
				to := arguments[len(arguments)-1]
				if !filepath.IsAbs(to) {
					to = filepath.Join(dir, to) + strings.Repeat("/", strings.Count(to, "/")-strings.Count(strings.TrimSuffix(to, "/"), "/"))
				}
				for _, source := range arguments[:len(arguments)-1] {
					copyTree(t, filepath.Join(from, source), filepath.Join(at, to), strings.HasSuffix(to, "/"), from, ignored)
				}
				ignored = ignores(t)
			case "RUN":
				command := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(s.arguments, "/out", filepath.Join(at, "out")))
				command.Dir = filepath.Join(at, dir)
				command.Env = append(os.Environ(), "CI=true", "GOFLAGS=") // the settings of an image, not of this machine
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("RUN %s: %v\n%s", s.arguments, err, out)
				}
			case "ENV", "USER", "ENTRYPOINT", "CMD", "EXPOSE", "STOPSIGNAL":
				image[s.instruction] = append(image[s.instruction], s.arguments)
			default:
				t.Fatalf("unknown instruction %s", s.instruction)
			}
		}
	}
	return roots["final"], image
}

// checkout returns the root of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// ignores returns the patterns of the files that are not copied.
func ignores(t *testing.T) []string {
	t.Helper()
	return strings.Fields(read(t, deployDir+"/Dockerfile.dockerignore"))
}

// copyTree copies a file or the contents of a directory, as COPY does.
func copyTree(t *testing.T, from, to string, intoFolder bool, root string, ignored []string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() && intoFolder {
		to = filepath.Join(to, filepath.Base(from))
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(from, path)
		inRoot, _ := filepath.Rel(root, path)
		if slices.ContainsFunc(ignored, func(pattern string) bool {
			if base, deep := strings.CutPrefix(pattern, "**/"); deep {
				return entry.Name() == base
			}
			return inRoot == pattern
		}) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, below)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		of, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, of.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImage_RunsAsItsUser executes the Dockerfile, and runs the result as its user, in its working directory and with
// its environment.
func TestImage_RunsAsItsUser(t *testing.T) {
	root, image := buildImage(t)
	binary := filepath.Join(root, "usr/local/bin/retwis")
	if out, err := exec.Command("ldd", binary).CombinedOutput(); err == nil || !strings.Contains(string(out), "not a dynamic executable") {
		t.Errorf("the binary is not static: %v %s", err, out)
	}
	if out, err := exec.Command(binary, "version").Output(); err != nil || !strings.Contains(string(out), ", revision ") {
		t.Errorf("retwis version prints %q, %v", out, err)
	}
	if got := image["USER"]; len(got) != 1 || strings.HasPrefix(got[0], "0") || strings.HasPrefix(got[0], "root") {
		t.Fatalf("the user is %q", got)
	}
	if got := fmt.Sprint(image["ENTRYPOINT"], image["CMD"]); got != `[["/usr/local/bin/retwis"]] [["serve"]]` {
		t.Fatalf("the image starts %s", got)
	}
	uid, _ := strconv.Atoi(strings.Split(image["USER"][0], ":")[0])
	everybody(t, root)
	data := filepath.Join(root, "data")
	if err := os.Chown(data, uid, uid); err != nil {
		t.Fatal(err) // this needs root
	}
	api, metrics := freeAddress(t), freeAddress(t)
	var env []string
	for _, setting := range image["ENV"] {
		setting = strings.ReplaceAll(setting, "0.0.0.0:8080", api)
		env = append(env, strings.ReplaceAll(setting, "0.0.0.0:9464", metrics))
	}
	node := tcpRedis(t)
	p := launchAs(t, uid, data, append(env, "RETWIS_REDIS_URL="+node.URL()), binary, "serve")
	p.url = "http://" + api
	awaitReady(t, p.url)
	flow(t, p.url, "")
	if _, body := newClient(t, p.url).get("/"); !strings.Contains(body, `<div id="root"`) {
		t.Errorf("the image has no web app: %s", body)
	}
	if got := scrape(t, "http://"+metrics); sum(got, "retwis_redis_up") != 1 {
		t.Error("it does not serve metrics")
	}
	p.stop()
}

// everybody lets other users access a directory.
func everybody(t *testing.T, root string) {
	t.Helper()
	for dir := root; dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == os.TempDir() {
			_ = os.Chmod(dir, 0o1777)
			break
		}
	}
}

func launchAs(t *testing.T, uid int, dir string, env []string, binary string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	p.cmd.WaitDelay = patience
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%s\nprinted\n%s\nand logged\n%s", strings.Join(p.cmd.Args, " "), p.stdout, p.stderr)
		}
	})
	return p
}
