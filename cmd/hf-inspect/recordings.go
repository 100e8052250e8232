package main

import (
	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/report"
)

func newRecordings(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "recordings",
		Short: "List the embedded recordings: the models that need no network",
		Long: `List the recordings that the program carries. Each is a MODEL for every command,
by its name or a former one, with or without a network. A recording holds config
and headers; its provenance says whether they were read from the real files
(recorded), follow from published facts (reconstructed), or from the config and
the index (derived).`,
		Example: examples("recordings", "recordings --format json"),
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			var rows []report.Recording
			for _, i := range fixtures.List() {
				rows = append(rows, report.Recording{Repository: i.Repository, Aliases: i.Aliases, Revision: i.Revision,
					Provenance: string(i.Provenance), Date: i.Date, How: i.How})
			}
			return report.Recordings(cmd.OutOrStdout(), s.format, rows)
		},
	}
}
