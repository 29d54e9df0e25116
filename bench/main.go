// Command bench measures the goals of the design's section 6 in one run on one machine, as ratios: what a durable accept
// costs beside a handler that only reads and MACs, and beside one commit per request.
//
// The load comes from this process over keep-alive connections on loopback, the server under test is another process of
// the same program (bench serve). Requests are signed before the clock starts, each once; only the event's id and the
// signature are copied into place while it runs. Phases are short and take turns, round after round, so that the noise of
// the machine hits all of them; a figure is the median of its rounds. Databases are thrown away at the end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if len(args) > 0 && args[0] == "serve" {
		err = serve(ctx, args[1:], stdin, stdout)
	} else {
		err = measure(ctx, args, stdout, stderr)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintln(stderr, "bench:", err)
	return 4
}

// errUsage: the flags were wrong, and package flag has said so.
var errUsage = errors.New("usage")

func measure(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "short phases: an answer within 50 seconds")
	asJSON := flags.Bool("json", false, "print one JSON object instead of the table")
	profiles := flags.String("cpuprofile", "", "write processor profiles of the servers under load into `DIR`")
	if err := flags.Parse(args); err != nil {
		return errors.Join(errUsage, err)
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "bench takes no arguments: %q\n", flags.Args())
		return errUsage
	}
	p := full
	if *quick {
		p = short
	}
	p.profiles = *profiles
	m, err := measureAll(ctx, p)
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(m.values())
	}
	return m.table(stdout)
}
