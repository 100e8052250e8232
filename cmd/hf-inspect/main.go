// Command hf-inspect says how many parameters a Hugging Face checkpoint really
// has, and why other counts differ.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hf-inspect/hf-inspect/estimator"

	"github.com/hf-inspect/hf-inspect/locate"
)

// Exit codes. An error finding is everything that the reference library refuses
// or would load wrong, and that could be counted all the same.
const (
	exitCounted  = 0
	exitFinding  = 1
	exitUsage    = 2
	exitNothing  = 3
	exitCanceled = 130
)

func main() { os.Exit(start(nil)) }

// start runs the command line of the process until it is done or interrupted.
// A test can tune how the network is used.
func start(tune func(*locate.Options)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process, whatever it does
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr, tune)
}

// errFindings is the result of a command that did its work and found an error
// in what it looked at. It is not printed: the findings are.
var errFindings = errors.New("an error finding stands")

// usageError is a call that the command line does not allow.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr *os.File, tune func(*locate.Options)) int {
	root := newRoot(tune)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	return exitCode(ctx, err, func(text string) { fmt.Fprintln(stderr, text) })
}

func exitCode(ctx context.Context, err error, print func(string)) int {
	var usage usageError
	switch {
	case err == nil:
		return exitCounted
	case errors.Is(err, errFindings):
		return exitFinding
	case ctx.Err() != nil:
		print("hf-inspect: interrupted")
		return exitCanceled
	case errors.As(err, &usage), errors.Is(err, estimator.ErrUnknownClass):
		print("hf-inspect: " + safeError(err))
		print("hf-inspect --help lists commands and flags")
		return exitUsage
	}
	print("hf-inspect: " + safeError(err))
	return exitNothing
}
