// Command retwis-torture checks the promises of the service from outside: clients act through the public API while
// faults are injected, and validators compare what they recorded with what the service promises.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"retwis/internal/cli"
	"retwis/internal/torture/fault"
	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
	"retwis/internal/torture/workload"
)

type commands struct {
	Run   runCommand   `cmd:"" help:"Run the workload under faults, and check the history."`
	Check checkCommand `cmd:"" help:"Check a recorded history again."`
	List  listCommand  `cmd:"" help:"List the faults."`
}

type runCommand struct {
	Fault   []string      `help:"Faults to inject, in random order; all that suit the topology by default."`
	Rounds  int           `default:"1" help:"Number of injections of each fault."`
	Cluster bool          `help:"Run on a cluster of three masters with replicas instead of one Redis."`
	HomeCap int           `help:"Capacity of home timelines; a small one causes trimming, rebuilds and deep pages. 0 selects the default."`
	Pull    int           `help:"Followers above which an author is a large author, whose posts are delivered on read. 0 selects the default."`
	Fsync   string        `default:"always" enum:"always,everysec" help:"appendfsync of Redis (${enum})."`
	Authors int           `default:"6" help:"Users who post."`
	Readers int           `default:"10" help:"Users who follow them, with a subscription each."`
	Leavers int           `default:"2" help:"Authors who delete their accounts during the run."`
	Pause   time.Duration `default:"50ms" help:"Average pause between the actions of one client."`
	Between time.Duration `default:"500ms" help:"Pause between two faults."`
	Seed    uint64        `help:"Seed of the order of the faults; random by default."`
	Binary  string        `help:"Path of the service's binary; built from ./cmd/retwis by default."`
	History string        `help:"File to write the history to; by default only one with violations is written, beside the logs." placeholder:"FILE"`
	Results string        `help:"File to append the result to, a line of JSON." placeholder:"FILE"`
	KeepDir bool          `help:"Keep the directory with data and logs even without violations."`
}

// result is the result of a run.
type result struct {
	Time       time.Time      `json:"time"`
	Seed       uint64         `json:"seed"`
	Cluster    bool           `json:"cluster"`
	Fsync      string         `json:"fsync"`
	HomeCap    int            `json:"homeCap"`
	Pull       int            `json:"pull"`
	Faults     map[string]int `json:"faults"`
	Posts      int            `json:"posts"`
	Operations int            `json:"operations"`
	Violations map[string]int `json:"violations"`
}

func (c *runCommand) Run(ctx context.Context) error {
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	dir, err := os.MkdirTemp("", "retwis-torture-")
	if err != nil {
		return fmt.Errorf("create a directory: %w", err)
	}
	options := fault.Options{
		Dir: dir, Cluster: c.Cluster, HomeCap: c.HomeCap, Fsync: c.Fsync, Binary: c.Binary, PullAbove: c.Pull,
		Clock: len(c.Fault) == 0 || slices.Contains(c.Fault, "clock-step"),
	}
	schedule, err := c.schedule(options)
	if err != nil {
		return err
	}
	if options.Binary == "" {
		options.Binary = filepath.Join(dir, "retwis")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", options.Binary, "./cmd/retwis").CombinedOutput(); err != nil {
			return fmt.Errorf("build the service: %w: %s", err, out)
		}
	}
	found, err := c.torture(ctx, options, schedule)
	if err != nil {
		return fmt.Errorf("%w (data and logs are in %s)", err, dir)
	}
	violations := validate.Check(found)
	if len(violations) > 0 && c.History == "" {
		c.History = filepath.Join(dir, "history.json")
	}
	if err := c.write(found, violations); err != nil {
		return err
	}
	if len(violations) > 0 {
		for _, v := range violations {
			fmt.Println(v)
		}
		return fmt.Errorf("%d violations (seed %d; the history is in %s, data and logs are in %s)", len(violations), c.Seed, c.History, dir)
	}
	if c.KeepDir {
		return nil
	}
	return os.RemoveAll(dir)
}

// schedule returns the faults in the order in which they are injected.
func (c *runCommand) schedule(o fault.Options) ([]fault.Fault, error) {
	var chosen []fault.Fault
	for _, f := range fault.All() {
		switch named := slices.Contains(c.Fault, f.Name); {
		case named && !f.Suits(o):
			return nil, fmt.Errorf("the fault %s does not suit this topology: change --cluster", f.Name)
		case named, len(c.Fault) == 0 && f.Suits(o):
			chosen = append(chosen, f)
		}
	}
	for _, name := range c.Fault {
		if !slices.ContainsFunc(chosen, func(f fault.Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("unknown fault %q: see retwis-torture list", name)
		}
	}
	schedule := slices.Repeat(chosen, c.Rounds)
	random := rand.New(rand.NewPCG(c.Seed, 0))
	random.Shuffle(len(schedule), func(i, j int) { schedule[i], schedule[j] = schedule[j], schedule[i] })
	return schedule, nil
}

// torture runs the workload while the faults of the schedule are injected one after the other.
func (c *runCommand) torture(ctx context.Context, o fault.Options, schedule []fault.Fault) (*history.History, error) {
	environment, err := fault.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer environment.Close()
	recorder := history.NewRecorder(c.Seed)
	users, err := workload.New(ctx, workload.NewAPI(environment.Endpoints), recorder,
		workload.Options{Authors: c.Authors, Readers: c.Readers, Leavers: c.Leavers, Pause: c.Pause})
	if err != nil {
		return nil, err
	}
	err = users.Run(ctx, func(ctx context.Context) error {
		for i, f := range schedule {
			fmt.Fprintf(os.Stderr, "%d/%d %s\n", i+1, len(schedule), f.Name)
			recorder.Fault(f.Name)
			if err := f.Inject(ctx, environment); err != nil {
				return fmt.Errorf("inject %s: %w", f.Name, err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(c.Between):
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return recorder.History(), nil
}

// write prints a summary, and writes the history and the result to the files of the flags.
func (c *runCommand) write(h *history.History, violations []validate.Violation) error {
	r := result{
		Time: time.Now().UTC().Truncate(time.Second), Seed: c.Seed, Cluster: c.Cluster, Fsync: c.Fsync, HomeCap: c.HomeCap, Pull: c.Pull,
		Faults: map[string]int{}, Operations: len(h.Operations), Violations: map[string]int{},
	}
	for _, f := range h.Faults {
		r.Faults[f.Name]++
	}
	for _, o := range h.Operations {
		if o.Kind == history.Post && o.Outcome == history.OK {
			r.Posts++
		}
	}
	for _, v := range violations {
		r.Violations[string(v.Promise)]++
	}
	fmt.Printf("%d faults, %d operations, %d acknowledged posts, %d violations\n", len(h.Faults), r.Operations, r.Posts, len(violations))
	if c.History != "" {
		f, err := os.Create(c.History)
		if err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
		if err := errors.Join(h.Write(f), f.Close()); err != nil {
			return err
		}
	}
	if c.Results == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	f, err := os.OpenFile(c.Results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

type checkCommand struct {
	File string `arg:"" help:"History that run --history wrote."`
}

func (c *checkCommand) Run() error {
	h, err := history.ReadFile(c.File)
	if err != nil {
		return err
	}
	violations := validate.Check(h)
	for _, v := range violations {
		fmt.Println(v)
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d violations", len(violations))
	}
	fmt.Printf("%d operations, no violation\n", len(h.Operations))
	return nil
}

type listCommand struct{}

// Run implements kong's command.
func (listCommand) Run() error { //nolint:unparam // kong's interface has an error
	for _, f := range fault.All() {
		where := []string{}
		if f.Single {
			where = append(where, "one Redis only")
		}
		if f.Cluster {
			where = append(where, "cluster only")
		}
		fmt.Printf("%-22s %s\n", f.Name, strings.Join(append([]string{f.Help}, where...), "; "))
	}
	return nil
}

func main() {
	cli.Program{
		Name:        "retwis-torture",
		Description: "Checks the promises of the service from outside, under faults.",
		Commands:    &commands{},
	}.Main()
}
