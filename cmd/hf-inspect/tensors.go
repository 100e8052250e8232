package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/report"
)

func newTensors(s *settings) *cobra.Command {
	var expected bool
	var pattern, status string
	cmd := &cobra.Command{
		Use:     "tensors MODEL",
		Short:   "List the stored tensors with role and status, or those that the config calls for",
		Example: examples("tensors gpt2 --tensors 'h.0.*'", "tensors ./checkpoint --status unexpected", "tensors gpt2 --expected --format jsonl"),
		Args:    exactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			keep, err := tensorFilter(pattern, status)
			if err != nil {
				return err
			}
			if expected && status != "" {
				return usageError{errors.New("--status is of stored tensors, --expected lists what a config calls for")}
			}
			if expected {
				return s.listExpected(cmd, args[0], keep)
			}
			return s.listStored(cmd, args[0], keep)
		},
	}
	cmd.Flags().BoolVar(&expected, "expected", false, "list what the config alone calls for; needs no weights")
	cmd.Flags().StringVar(&pattern, "tensors", "", "only names that match the pattern, such as '*.attn.*'")
	cmd.Flags().StringVar(&status, "status", "", "only tensors of this status: "+statuses())
	return cmd
}

func statuses() string {
	var names []string
	for _, status := range reconcile.Statuses() {
		names = append(names, string(status))
	}
	return strings.Join(names, ", ")
}

func tensorFilter(pattern, status string) (func(name, status string) bool, error) {
	if pattern != "" && !doublestar.ValidatePattern(pattern) {
		return nil, usageError{fmt.Errorf("--tensors %q is no pattern", pattern)}
	}
	if status != "" && !slices.Contains(reconcile.Statuses(), reconcile.Status(status)) {
		return nil, usageError{fmt.Errorf("--status is %q, want one of %s", status, statuses())}
	}
	return func(name, s string) bool {
		if status != "" && s != status {
			return false
		}
		if pattern == "" {
			return true
		}
		ok, _ := doublestar.Match(pattern, name)
		return ok
	}, nil
}

func (s *settings) listStored(cmd *cobra.Command, model string, keep func(name, status string) bool) error {
	in, err := s.inspectModel(cmd.Context(), model, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	rows := matching(in, keep)
	s.noMatch(cmd, len(rows))
	if err := report.StoredTensors(cmd.OutOrStdout(), s.format, rows); err != nil {
		return err
	}
	if finding.Worst(in.Findings) == finding.Error {
		return errFindings
	}
	return nil
}

// noMatch says so where a filter keeps nothing.
func (s *settings) noMatch(cmd *cobra.Command, kept int) {
	if kept == 0 && !s.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), "hf-inspect: no tensor matches")
	}
}

// matching returns the stored tensors that the filter keeps.
func matching(in *inspect.Inspection, keep func(name, status string) bool) []inspect.StoredTensor {
	return slices.DeleteFunc(in.StoredTensors(), func(t inspect.StoredTensor) bool { return !keep(t.Name, t.Status) })
}

func (s *settings) listExpected(cmd *cobra.Command, model string, keep func(name, status string) bool) error {
	e, err := s.estimate(cmd, model)
	if err != nil {
		return err
	}
	const most = 1 << 22
	rows, err := e.ExpectedTensors(most, func(name string) bool { return keep(name, "expected") })
	if errors.Is(err, inspect.ErrTooManyTensors) {
		return fmt.Errorf("the config calls for more than %d tensors: %w", most, err)
	}
	s.noMatch(cmd, len(rows))
	return report.ExpectedTensors(cmd.OutOrStdout(), s.format, rows)
}
