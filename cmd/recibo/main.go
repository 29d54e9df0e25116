// Command recibo receives webhooks so that each real event acts once: the gateway, its demonstration and its tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes. 3, a weakness was found, is the probe's.
const (
	exitDone     = 0
	exitNo       = 1 // it ran and the answer is no
	exitUsage    = 2
	exitCouldNot = 4 // it could not run
)

func main() {
	os.Exit(run(os.Args[1:], &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookup: os.LookupEnv}))
}

// An env is what a command has of the world.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
}

// printf writes a result. What a closed pipe does not take is nobody's loss.
func (e *env) printf(format string, args ...any) { _, _ = fmt.Fprintf(e.stdout, format, args...) }

// An exitError ends the program with its code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func no(format string, args ...any) error { return &exitError{exitNo, fmt.Errorf(format, args...)} }

func couldNot(err error) error { return &exitError{exitCouldNot, err} }

// errSilent: everything was said already.
var errSilent = errors.New("")

// run is the program: it returns the exit code.
func run(args []string, e *env) int {
	// A first signal asks for an orderly stop, a second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if text := err.Error(); text != "" {
		_, _ = fmt.Fprintln(e.stderr, "recibo: "+text)
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return exitUsage
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "recibo",
		Short:         "Receive webhooks so that each real event acts once",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.AddCommand(newServe(e), newDemo(e), newSend(e), newVerify(e), newProviders(e), newVersion(e))
	return root
}
