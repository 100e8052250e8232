package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

func newArchs(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "archs [TYPE]",
		Short: "List the described architectures with their evidence, or print one description",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{errors.New("at most one model type is wanted")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				return report.Architectures(out, s.format, inspect.Architectures())
			}
			d, err := inspect.DescribeType(args[0], s.class)
			if err != nil {
				return fmt.Errorf("%w; 'hf-inspect archs' lists what is described", err)
			}
			if s.format == "json" || s.format == "jsonl" {
				return report.JSON(out, d, s.format == "json")
			}
			report.Description(out, d, s.style(out))
			return nil
		},
	}
}
