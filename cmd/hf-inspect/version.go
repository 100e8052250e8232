package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

// versionResult is what the version command prints.
type versionResult struct {
	SchemaVersion string `json:"schema_version"`
	Version       string `json:"version"`
	Commit        string `json:"commit,omitempty"`
	Go            string `json:"go"`
}

func (v versionResult) line() string {
	return strings.Join(strings.Fields("hf-inspect "+v.Version+" "+v.Commit+" "+v.Go), " ")
}

func newVersion(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: examples("version", "version --format json"),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			v := buildVersion()
			if s.format == "json" || s.format == "jsonl" {
				return report.JSON(cmd.OutOrStdout(), v, s.format == "json")
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), v.line())
			return err
		},
	}
}

func buildVersion() versionResult {
	v := versionResult{SchemaVersion: inspect.SchemaVersion, Version: "(devel)"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go = info.GoVersion
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Commit = setting.Value
		}
	}
	return v
}
