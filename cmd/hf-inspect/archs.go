package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

func newArchs(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "archs [TYPE|CLASS]",
		Short: "List the described architectures with their evidence, or print one description",
		Long: `List the described architectures, or print one: its tensors with symbolic shapes,
its formula, and the config fields that it reads.

The columns count what has confirmed a description: classes under the reference
library's default config; configs with other sizes and switches flipped; published
configs; real repositories whose index was met, name by name and byte by byte.`,
		Example: "  hf-inspect archs\n  hf-inspect archs qwen3_moe\n  hf-inspect archs LlamaForCausalLM --format json",
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
			modelType, similar := inspect.ResolveType(args[0])
			if modelType == "" {
				return unknownType(args[0], similar)
			}
			d, err := inspect.DescribeType(modelType, s.class)
			if err != nil {
				return err
			}
			return report.Description(out, s.format, d, s.style(out))
		},
	}
}

func unknownType(text string, similar []string) error {
	err := fmt.Errorf("model type %q is not described", text)
	if len(similar) > 0 {
		return fmt.Errorf("%w; similar ones are: %s", err, strings.Join(similar[:min(len(similar), 8)], ", "))
	}
	return fmt.Errorf("%w; 'hf-inspect archs' lists what is", err)
}
