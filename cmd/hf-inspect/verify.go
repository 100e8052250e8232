package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/record"
	"github.com/hf-inspect/hf-inspect/report"
)

func newVerify(s *settings) *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use:     "verify FILE|DIR...",
		Short:   "Inspect recordings again and compare with the results kept in them",
		Example: examples("verify testdata", "verify name.hfrec --format csv"),
		Long: `verify inspects recordings again and compares counts, ledger and findings with
the result that each keeps: one line a file, and a diff where something moved.
The exit code is 1 then, and 3 where a file could not be verified.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("no recording is named: give files or folders")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.verify(cmd, args, update)
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "keep the results that are found now")
	return cmd
}

func (s *settings) verify(cmd *cobra.Command, paths []string, update bool) error {
	names, err := record.Files(paths)
	if err != nil {
		return err
	}
	failed, moved := 0, 0
	for i, name := range names {
		v := record.VerifyFile(cmd.Context(), name, update)
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if err := report.Verdict(cmd.OutOrStdout(), s.format, v, i == 0); err != nil {
			return err
		}
		switch v.Status {
		case record.Failed:
			failed++
		case record.Moved:
			moved++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d recordings could not be verified", failed, len(names))
	case moved > 0:
		return errFindings
	}
	return nil
}
