package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

func newEstimate(s *settings) *cobra.Command {
	var shape shapeFlags
	var explain bool
	cmd := &cobra.Command{
		Use:   "estimate CONFIG|FOLDER|MODEL",
		Short: "Count what a config alone promises, and how it differs from the textbook formula",
		Example: "  hf-inspect estimate ./config.json\n" +
			"  hf-inspect estimate - < config.json\n" +
			"  hf-inspect estimate --d 1600 --layers 48 --heads 25 --vocab 50257    # from sizes alone\n" +
			"  hf-inspect estimate --d 4096 --layers 32 --heads 32 --kv-heads 8 --ff 14336 --vocab 128256",
		Long: `Count what a config alone promises: no weights are read, and none are needed.
CONFIG is a config.json, or - for one on standard input.`,
		Args: shape.orModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			e, err := s.estimateOr(cmd, shape.names(args)[0], &shape)
			if err != nil {
				return err
			}
			if err := report.Estimate(cmd.OutOrStdout(), s.format, e, s.style(cmd.OutOrStdout()), explain); err != nil {
				return err
			}
			if finding.Worst(e.Findings) == finding.Error {
				return errFindings
			}
			return nil
		},
	}
	addExplain(cmd.Flags(), &explain)
	shape.add(cmd.Flags())
	return cmd
}

// addExplain adds the flag that shows how figures come about. JSON has the
// formulas always, a spreadsheet never.
func addExplain(f *pflag.FlagSet, explain *bool) {
	f.BoolVar(explain, "explain", false, "show each figure's formula, its numbers and its result (text and markdown)")
}

func exactlyOne(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{errors.New("exactly one MODEL is wanted")}
	}
	return nil
}

func (s *settings) estimate(cmd *cobra.Command, model string) (*inspect.Estimate, error) {
	opts := inspect.Options{Class: s.class}
	if data, ok, err := configText(cmd, model); ok {
		if err != nil {
			return nil, err
		}
		if model == standardInput {
			model = "standard input"
		}
		return named(model)(inspect.EstimateJSON(model, data, opts))
	}
	src, err := s.open(cmd.Context(), model, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return named(model)(inspect.EstimateConfig(cmd.Context(), src, opts))
}

// named puts the model's name before what is wrong with its config.
func named(model string) func(*inspect.Estimate, error) (*inspect.Estimate, error) {
	return func(e *inspect.Estimate, err error) (*inspect.Estimate, error) {
		var none *inspect.NoEstimateError
		if errors.As(err, &none) {
			err = fmt.Errorf("%s: %w", model, err)
		}
		return e, err
	}
}

// standardInput names a config that is read from there.
const standardInput = "-"

// configText reads a config that is named as a file, or from standard input.
func configText(cmd *cobra.Command, name string) (data []byte, ok bool, err error) {
	if name != standardInput {
		return configFile(name)
	}
	data, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), hfconfig.MaxSize+1))
	if err == nil && len(data) > hfconfig.MaxSize {
		err = fmt.Errorf("standard input: larger than %d bytes, no config", hfconfig.MaxSize)
	}
	return data, true, err
}

// configFile reads a file that is named as a config: any JSON file by its path.
func configFile(path string) (data []byte, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || filepath.Ext(path) != ".json" {
		return nil, false, nil
	}
	if info.Size() > hfconfig.MaxSize {
		return nil, true, fmt.Errorf("%s: larger than %d bytes, no config", path, hfconfig.MaxSize)
	}
	data, err = os.ReadFile(path)
	return data, true, err
}
