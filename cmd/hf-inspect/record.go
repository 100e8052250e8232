package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/record"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/source"
)

func newRecord(s *settings) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "record MODEL",
		Short: "Write what an inspection reads, and its result, into one small text file",
		Long: `record inspects MODEL by reading its files and writes a recording: config,
tensor table, shards and sizes, index metadata, and the result. It holds no
weights, no token and no signed address. A recording is a MODEL for every
command; verify tells whether its result still comes out the same.`,
		Example: "  hf-inspect record org/name -o testdata/name.hfrec\n  hf-inspect verify testdata",
		Args:    exactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.record(cmd, args[0], output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, gzipped where it ends in .gz (default: standard output)")
	return cmd
}

func (s *settings) record(cmd *cobra.Command, model, output string) error {
	stderr := cmd.ErrOrStderr()
	s.headers = "ranges" // a recording holds the bytes of the files
	src, err := s.open(cmd.Context(), model, stderr)
	if err != nil {
		return err
	}
	made, err := s.makeRecording(cmd, src)
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	if output == "" {
		err = fixtures.Write(cmd.OutOrStdout(), made.Recording)
	} else if err = fixtures.Save(output, made.Recording); err == nil && !s.quiet {
		fmt.Fprintf(stderr, "hf-inspect: recorded %s in %s\n", report.Safe(made.Recording.Repository), report.Safe(output))
	}
	if err != nil {
		return err
	}
	return lost(stderr, made.Lost)
}

func (s *settings) makeRecording(cmd *cobra.Command, src source.Source) (*record.Made, error) {
	progress, finish := s.progressBar(cmd.ErrOrStderr())
	defer finish()
	return record.Make(cmd.Context(), src, record.Options{
		Inspect: inspect.Options{Class: s.class, Weights: s.weights(), Parallel: s.parallel, Progress: progress},
		How:     howRecorded(src.Info()),
		Date:    time.Now().UTC(),
	})
}

func howRecorded(info source.Info) string {
	from := map[source.Kind]string{
		source.Hub: "the files on the Hub", source.Cache: "the files in the Hugging Face cache", source.Recording: "another recording",
	}[info.Kind]
	if from == "" {
		from = "files on a disk"
	}
	return fmt.Sprintf("hf-inspect %s read headers and configs of %s", buildVersion().Version, from)
}

// lost says what the recording does not give again.
func lost(stderr io.Writer, changes []record.Change) error {
	if len(changes) == 0 {
		return nil
	}
	fmt.Fprintln(stderr, "hf-inspect: the recording does not give all of the result again, since a damaged file cannot be kept:")
	report.Changes(stderr, changes)
	return errFindings
}
