package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

func newInspect(s *settings) *cobra.Command {
	var details report.Details
	cmd := &cobra.Command{
		Use:     "inspect MODEL...",
		Short:   "Count a checkpoint and reconcile it with its config (the default command)",
		Example: examples("inspect gpt2-xl", "inspect ./checkpoint --layers --by role,dtype", "inspect meta-llama/Llama-3.1-8B --format json"),
		Args:    atLeastOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			for _, by := range details.By {
				if !slices.Contains(report.Breakdowns, by) {
					return usageError{fmt.Errorf("--by is %q, want some of %s", by, strings.Join(report.Breakdowns, ", "))}
				}
			}
			if _, err := tensorFilter(details.Tensors, ""); err != nil {
				return err
			}
			return s.inspectAll(cmd, args, details)
		},
	}
	cmd.Flags().BoolVar(&details.Layers, "layers", false, "show what one layer of each kind holds")
	cmd.Flags().StringVar(&details.Tensors, "tensors", "", "also list the stored tensors whose names match, such as '*.attn.*' (text and markdown)")
	cmd.Flags().StringSliceVar(&details.By, "by", nil, "also sum by role, dtype, layer or shard")
	return cmd
}

func atLeastOne(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("no MODEL is named")}
	}
	return nil
}

// inspectAll inspects several models one after the other. One that cannot be
// counted does not keep the others from being.
func (s *settings) inspectAll(cmd *cobra.Command, models []string, details report.Details) error {
	var worst error
	many := len(models) > 1
	for i, model := range models {
		in, err := s.inspectModel(cmd.Context(), model, cmd.ErrOrStderr())
		if err != nil {
			if cmd.Context().Err() != nil || !many {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "hf-inspect: %s: %s\n", report.Safe(model), safeError(err))
			worst = errSaid
			continue
		}
		if i > 0 && s.format == "text" {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := s.print(cmd, in, details, many, i == 0); err != nil {
			return err
		}
		if worst == nil && finding.Worst(in.Findings) == finding.Error {
			worst = errFindings
		}
	}
	return worst
}

// errSaid is a failure whose message is already on stderr.
var errSaid = errors.New("some models could not be counted")

func (s *settings) print(cmd *cobra.Command, in *inspect.Inspection, details report.Details, many, first bool) error {
	out := cmd.OutOrStdout()
	switch s.format {
	case "json":
		return report.JSON(out, in, !many)
	case "jsonl":
		return report.JSON(out, in, false)
	case "markdown":
		if err := report.Markdown(out, in, details); err != nil || details.Tensors == "" {
			return err
		}
		return s.listMatching(cmd, in, details.Tensors)
	case "csv":
		return report.CSV(out, in, first)
	}
	report.Text(out, in, details, s.style(out))
	if details.Tensors == "" {
		return nil
	}
	return s.listMatching(cmd, in, details.Tensors)
}

// listMatching lists the tensors whose names match below a result.
func (s *settings) listMatching(cmd *cobra.Command, in *inspect.Inspection, pattern string) error {
	keep, err := tensorFilter(pattern, "")
	if err != nil {
		return err
	}
	rows := matching(in, keep)
	s.noMatch(cmd, len(rows))
	fmt.Fprintln(cmd.OutOrStdout())
	return report.StoredTensors(cmd.OutOrStdout(), s.format, rows)
}
