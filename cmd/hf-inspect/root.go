package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/locate"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// settings are the flags that all commands share.
type settings struct {
	format    string
	verbose   bool
	quiet     bool
	progress  string
	offline   bool
	revision  string
	subfolder string
	variant   string
	file      string
	headers   string
	tokenFile string
	noCache   bool
	parallel  int
	timeout   time.Duration
	class     string

	tune func(*locate.Options) // nil but in tests
}

const rootHelp = `hf-inspect counts the parameters of a Hugging Face checkpoint from its headers,
estimates them from its config, and explains the difference between the two
until nothing is left over.

MODEL is a folder, a .safetensors file, a recording, org/name[@revision] on the
Hub, an address of the Hub, or a bare name such as gpt2-xl.`

// newRoot returns the command tree, fresh for each run.
func newRoot(tune func(*locate.Options)) *cobra.Command {
	s := &settings{tune: tune}
	inspectCommand := newInspect(s)
	root := &cobra.Command{
		Use:           "hf-inspect MODEL...",
		Short:         "How many parameters has this checkpoint, really, and why does my count differ?",
		Long:          rootHelp,
		Example:       "  hf-inspect gpt2-xl\n  hf-inspect ./checkpoint --layers\n  hf-inspect meta-llama/Llama-3.1-8B --format json",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if err := misspeltCommand(cmd, args); err != nil {
				return err
			}
			return inspectCommand.RunE(cmd, args)
		},
	}
	version := buildVersion()
	root.Version = version.Version
	root.SetVersionTemplate(version.line() + "\n")
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	s.addFlags(root)
	root.Flags().AddFlagSet(inspectCommand.Flags())
	root.AddCommand(inspectCommand, newAudit(s), newEstimate(s), newTensors(s), newArchs(s), newFLOPs(s), newKV(s), newTrain(s), newMemory(s), newDesign(s),
		newRecord(s), newRecordings(s), newVerify(s), newCache(s), newVersion(s))
	return root
}

func (s *settings) addFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&s.format, "format", "text", "output: "+strings.Join(formats, ", ")+"; audit also sarif, junit")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "show each request on stderr")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "nothing on stderr but errors")
	f.StringVar(&s.progress, "progress", "auto", "progress bar on stderr: auto, always, never")
	f.BoolVar(&s.offline, "offline", false, "no network: local files, the Hugging Face cache, recordings")
	f.StringVar(&s.revision, "revision", "", "branch, tag or commit")
	f.StringVar(&s.subfolder, "subfolder", "", "folder of the repository to take as the model")
	f.StringVar(&s.variant, "variant", "", "variant of the weights, such as fp16")
	f.StringVar(&s.file, "file", "", "one weight file or index of the source")
	f.StringVar(&s.headers, "headers", "auto", "how the Hub's headers are read: auto, ranges (from the files), files (and the whole index)")
	f.StringVar(&s.tokenFile, "token-file", "", "file that holds the Hub's token")
	f.BoolVar(&s.noCache, "no-cache", false, "neither read nor write hf-inspect's own cache")
	f.IntVar(&s.parallel, "parallel", 0, "files read at once (default 8, and 16 from the Hub)")
	f.DurationVar(&s.timeout, "timeout", 0, "limit for all requests of a model, such as 30s")
	f.StringVar(&s.class, "class", "", "describe as this class, such as BertForMaskedLM")
}

var formats = []string{"text", "json", "jsonl", "markdown", "csv"}

// check refuses values that flags cannot have.
func (s *settings) check() error {
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"format", s.format, formats},
		{"progress", s.progress, []string{"auto", "always", "never"}},
		{"headers", s.headers, []string{"auto", "ranges", "files"}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return usageError{fmt.Errorf("--%s is %q, want one of %s", c.flag, c.value, strings.Join(c.allowed, ", "))}
		}
	}
	if s.parallel < 0 {
		return usageError{errors.New("--parallel is negative")}
	}
	return nil
}

func (s *settings) locate(stderr io.Writer) locate.Options {
	opts := locate.Options{
		Revision: s.revision, Subfolder: s.subfolder, Offline: s.offline, TokenFile: s.tokenFile,
		NoCache: s.noCache, Parallel: s.parallel, Recordings: recordings{},
	}
	if s.headers != "auto" {
		opts.Headers = hub.HeadersRanges
	}
	if s.timeout > 0 {
		opts.Timeouts.Total = s.timeout
	}
	if s.verbose {
		opts.Verbose = stderr // which tells of pauses, too
	} else if !s.quiet {
		opts.OnWait = func(w hub.Wait) {
			fmt.Fprintf(stderr, "hf-inspect: waiting %s: %s\n", w.For.Round(time.Second/10), w.Reason)
		}
	}
	if s.tune != nil {
		s.tune(&opts)
	}
	return opts
}

func (s *settings) weights() safetensors.ChooseOptions {
	return safetensors.ChooseOptions{Variant: s.variant, File: s.file}
}

// style fits text to the terminal, if it goes to one.
func (s *settings) style(out io.Writer) report.Style {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return report.Style{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return report.Style{Width: width, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb"}
}

// safeError makes an error printable, line by line.
func safeError(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = report.Safe(lines[i])
	}
	return strings.Join(lines, "\n")
}

// misspeltCommand takes a first word that is nearly a command, and no path, for a
// slip: hf-inspect tensor gpt2.
func misspeltCommand(root *cobra.Command, args []string) error {
	if _, err := os.Stat(args[0]); err == nil || len(args) < 2 {
		return nil
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usageError{fmt.Errorf("%q is no command; is %s meant", args[0], strings.Join(near, " or "))}
	}
	return nil
}
