package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/source"
)

// cacheResult is what the commands of the cache print.
type cacheResult struct {
	Dir     string `json:"dir"`
	Removed *int   `json:"removed_files,omitempty"`
	Bytes   *int64 `json:"removed_bytes,omitempty"`
}

func newCache(s *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "The cache of what was read from the Hub",
		Long: `What was read of a commit never changes, so it is kept in a cache of
hf-inspect's own: HF_INSPECT_CACHE, else a folder among the user's caches. A
second inspection of a commit then costs one request or none. --no-cache does
without. The official client's cache is read, and never written.`,
		Example: examples("cache dir", "cache clear"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("cache has no command %s", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "dir", Short: "Print the folder", Args: none, Example: examples("cache dir"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.printCache(cmd.OutOrStdout(), cacheResult{Dir: cacheDir()})
		},
	}, &cobra.Command{
		Use: "clear", Short: "Remove what is kept", Args: none, Example: examples("cache clear"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := cacheDir()
			cleared, err := hub.ClearCache(dir)
			if err != nil {
				return err
			}
			return s.printCache(cmd.OutOrStdout(), cacheResult{Dir: dir, Removed: &cleared.Files, Bytes: &cleared.Bytes})
		},
	})
	return cmd
}

func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument", cmd.CommandPath())}
	}
	return nil
}

func cacheDir() string { return hub.CacheDir("", source.OSEnv()) }

func (s *settings) printCache(out io.Writer, r cacheResult) error {
	if err := s.check(); err != nil {
		return err
	}
	switch {
	case s.format == "json" || s.format == "jsonl":
		return report.JSON(out, r, s.format == "json")
	case r.Removed == nil:
		_, err := fmt.Fprintln(out, r.Dir)
		return err
	}
	_, err := fmt.Fprintf(out, "removed %d entries, %s, from %s\n", *r.Removed, report.Bytes(*r.Bytes), r.Dir)
	return err
}
