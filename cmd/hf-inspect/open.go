package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/locate"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/source"
)

// recordings lets locate find the embedded recordings and those in files.
type recordings struct{}

func (recordings) Find(name string) (source.Source, bool) { return fixtures.Find(name) }

func (recordings) Open(path string) (source.Source, bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	first := make([]byte, 512)
	n, err := io.ReadFull(f, first)
	if err != nil && n == 0 || !fixtures.Is(first[:n]) {
		return nil, false, nil
	}
	src, err := fixtures.Open(path)
	return src, true, err
}

// open finds a model and says on stderr what is worth knowing of where it was
// found.
func (s *settings) open(ctx context.Context, model string, stderr io.Writer) (source.Source, error) {
	src, notices, err := locate.Open(ctx, model, s.locate(stderr))
	s.say(stderr, "", notices)
	if err != nil {
		return nil, nearRecordings(model, err)
	}
	return src, nil
}

func (s *settings) say(stderr io.Writer, about string, notices []locate.Notice) {
	if s.quiet {
		return
	}
	for _, n := range notices {
		fmt.Fprintln(stderr, "hf-inspect: "+about+report.Safe(n.Message))
	}
}

// base finds the model that an adapter's config names. The flags that choose
// within a model are the adapter's.
func (s *settings) base(stderr io.Writer) func(context.Context, string, string) (source.Source, error) {
	return func(ctx context.Context, name, revision string) (source.Source, error) {
		opts := s.locate(stderr)
		opts.Revision, opts.Subfolder = revision, ""
		src, notices, err := locate.Open(ctx, name, opts)
		s.say(stderr, "base: ", notices)
		return src, err
	}
}

// inspectModel opens and inspects one model.
func (s *settings) inspectModel(ctx context.Context, model string, stderr io.Writer) (*inspect.Inspection, error) {
	_, in, err := s.opened(ctx, model, stderr)
	return in, err
}

// opened inspects a model and returns with it where it was read.
func (s *settings) opened(ctx context.Context, model string, stderr io.Writer) (source.Source, *inspect.Inspection, error) {
	src, err := s.open(ctx, model, stderr)
	if err != nil {
		return nil, nil, err
	}
	progress, finish := s.progressBar(stderr)
	defer finish()
	in, err := inspect.Inspect(ctx, src, inspect.Options{Class: s.class, Weights: s.weights(), Parallel: s.parallel,
		Progress: progress, WholeIndex: s.headers == "files", Base: s.base(stderr)})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", model, configAlone(ctx, model, src, err))
	}
	return src, in, nil
}

// progressBar counts shards on stderr: where it is a terminal, the output is
// not told to be quiet, and there is more than one shard.
func (s *settings) progressBar(stderr io.Writer) (progress func(done, total int), finish func()) {
	f, ok := stderr.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd())) && os.Getenv("CI") == "" && os.Getenv("HF_HUB_DISABLE_PROGRESS_BARS") == ""
	if s.quiet || s.progress == "never" || s.progress == "auto" && !terminal {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	progress = func(done, total int) {
		if total < 2 {
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("headers"),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done)
	}
	return progress, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

// note says on stderr what a table or a machine's output has no room for: what
// is to be known of results, each once. The text of a single result says it
// itself.
func (s *settings) note(cmd *cobra.Command, n int, about func(i int) (model string, notes []string)) {
	if s.quiet || n == 1 && s.format == "text" {
		return
	}
	said := make(map[string]bool)
	for i := range n {
		model, notes := about(i)
		for _, text := range notes {
			if text = model + ": " + text; !said[text] {
				fmt.Fprintln(cmd.ErrOrStderr(), "hf-inspect: note: "+report.Safe(text))
				said[text] = true
			}
		}
	}
}
