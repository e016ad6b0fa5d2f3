package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

type testCommands struct {
	Fail failCommand `cmd:"" help:"Fail."`
	Echo echoCommand `cmd:"" help:"Print a word."`
}

type failCommand struct {
	Misuse bool `help:"Fail as a misuse."`
}

func (c *failCommand) Run() error {
	err := errors.Join(errors.New("one"), errors.New("two"))
	if c.Misuse {
		return fmt.Errorf("fail: %w", Misuse(err))
	}
	return err
}

type echoCommand struct {
	Word string `arg:""`
}

func (c *echoCommand) Run(ctx context.Context, console Console) error {
	_, err := fmt.Fprintln(console.Out, c.Word)
	return errors.Join(ctx.Err(), err)
}

func TestProgram_ReturnsExitCodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		args      []string
		code      int
		out, errs string
	}{
		{"success", []string{"echo", "hello"}, 0, "hello\n", ""},
		{"a failure", []string{"fail"}, ExitFailure, "", "program: one; two\n"},
		{"a misuse", []string{"fail", "--misuse"}, ExitMisuse, "", "program: fail: one; two\n"},
		{"an unknown flag", []string{"fail", "--twice"}, ExitMisuse, "", "program: unknown flag --twice (see program --help)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "stderr")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var out bytes.Buffer
			p := Program{Name: "program", Description: "A program.", Commands: &testCommands{}}
			code := p.run(tt.args, Console{Out: &out, Err: file})
			errs, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if code != tt.code || out.String() != tt.out || string(errs) != tt.errs {
				t.Errorf("code %d, printed %q and %q, want %d, %q and %q", code, &out, errs, tt.code, tt.out, tt.errs)
			}
		})
	}
}

func TestStopped_RequiresADoneContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if Stopped(ctx, context.Canceled) {
		t.Error("true before the context is done")
	}
	cancel()
	if !Stopped(ctx, fmt.Errorf("wait: %w", ctx.Err())) || Stopped(ctx, errors.New("disk full")) {
		t.Error("it does not compare the error with that of the context")
	}
}
