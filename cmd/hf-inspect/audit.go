package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/audit"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/report"
)

// auditFlags are the flags of the audit command.
type auditFlags struct {
	failOn   string
	expect   string
	baseline string
	update   bool
}

func newAudit(s *settings) *cobra.Command {
	var a auditFlags
	cmd := &cobra.Command{
		Use:   "audit MODEL...",
		Short: "Hold checkpoints against a severity, an expected count and a baseline, for pipelines",
		Example: examples("audit ./checkpoint --fail-on warning", "audit Qwen/Qwen2.5-7B --expect-params 7.6B",
			"audit ./a ./b --baseline known.json --format sarif"),
		Long: `audit inspects each model and asks further: whether pickles lie beside the
weights, whether matrices of a role differ in dtype, whether shards are numbered
without gaps, whether special tokens and the tokenizer fit the embedding. Headers
are read from the files themselves, and the whole index with them.

The exit code is 1 where a finding of the severity of --fail-on or higher is not
known to the baseline, 3 where a model could not be counted. Formats besides the
usual ones: sarif (2.1.0) and junit (XML).`,
		Args: atLeastOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := a.options(s, cmd.Flags().Changed("expect-params"))
			if err != nil {
				return err
			}
			return s.audit(cmd, args, &a, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.failOn, "fail-on", "error", "least severity that fails: error, warning, note")
	f.StringVar(&a.expect, "expect-params", "", "unique parameters that each model has to have: 7615616512, or rounded, 7.6B")
	f.StringVar(&a.baseline, "baseline", "", "file of known findings, which are accepted")
	f.BoolVar(&a.update, "update-baseline", false, "write what is found now to the baseline")
	return cmd
}

func (a *auditFlags) options(s *settings, expected bool) (audit.Options, error) {
	opts := audit.Options{FailOn: finding.Severity(a.failOn)}
	format := s.format
	if !slices.Contains(report.AuditFormats, format) {
		return opts, usageError{fmt.Errorf("--format is %q, want one of %s", format, strings.Join(report.AuditFormats, ", "))}
	}
	s.format = "text" // the other flags are checked; not all formats are known there
	err := s.check()
	if s.format = format; err != nil {
		return opts, err
	}
	if !slices.Contains([]string{"error", "warning", "note"}, a.failOn) {
		return opts, usageError{fmt.Errorf("--fail-on is %q, want error, warning or note", a.failOn)}
	}
	if a.update && a.baseline == "" {
		return opts, usageError{errors.New("--update-baseline needs --baseline FILE")}
	}
	if expected {
		if opts.Expected, err = audit.Expect(a.expect); err != nil {
			return opts, usageError{fmt.Errorf("--expect-params: %w", err)}
		}
	}
	if a.baseline == "" {
		return opts, nil
	}
	data, err := os.ReadFile(a.baseline)
	if errors.Is(err, os.ErrNotExist) && a.update {
		return opts, nil
	}
	if err == nil {
		opts.Baseline, err = audit.ReadBaseline(data)
	}
	if err != nil {
		return opts, usageError{fmt.Errorf("baseline %s: %w", a.baseline, err)}
	}
	return opts, nil
}

func (s *settings) audit(cmd *cobra.Command, models []string, a *auditFlags, opts audit.Options) error {
	if !cmd.Flags().Changed("headers") {
		s.headers = "files"
	}
	began := time.Now()
	var all []*audit.Audit
	failed, uncounted := false, false
	for _, model := range models {
		one, err := s.auditModel(cmd.Context(), model, cmd.ErrOrStderr(), opts)
		if cmd.Context().Err() != nil {
			return cmd.Context().Err()
		}
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "hf-inspect: %s\n", safeError(err))
			one, uncounted = audit.Uncountable(model, err, opts), true
		}
		failed = failed || !one.Passed
		all = append(all, one)
	}
	baseline := audit.NewBaseline(all, opts.Baseline)
	for _, one := range all {
		if a.update {
			one.Accept()
		}
	}
	if err := report.Audits(cmd.OutOrStdout(), s.format, all, report.Tool{Version: buildVersion().Version, Began: began}, s.style(cmd.OutOrStdout())); err != nil {
		return err
	}
	switch {
	case uncounted:
		return errSaid
	case a.update:
		return s.writeBaseline(cmd.ErrOrStderr(), a.baseline, baseline)
	case failed:
		return errFindings
	}
	return nil
}

func (s *settings) auditModel(ctx context.Context, model string, stderr io.Writer, opts audit.Options) (*audit.Audit, error) {
	src, in, err := s.opened(ctx, model, stderr)
	if err != nil {
		return nil, err
	}
	return audit.Model(ctx, model, src, in, opts), nil
}

func (s *settings) writeBaseline(stderr io.Writer, name string, b *audit.Baseline) error {
	var text strings.Builder
	if err := report.JSON(&text, b, true); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
		return err
	}
	if !s.quiet {
		fmt.Fprintf(stderr, "hf-inspect: %s holds what was found\n", report.Safe(name))
	}
	return nil
}
