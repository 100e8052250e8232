package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// flagGroup is flags that the help shows under one head.
type flagGroup struct {
	title string
	names []string
}

// flagGroups are the heads of the help, in its order. A flag that is in none
// stands first, without a head of its own.
func flagGroups() []flagGroup {
	var sizes []string
	for _, size := range new(shapeFlags).sizeFlags() {
		sizes = append(sizes, size.name)
	}
	return []flagGroup{
		{"Workload", []string{"train", "batch", "seq", "past", "logits-to-keep", "encoder-seq", "tokens", "rule", "dtype", "quantization", "kv-dtype",
			"attention", "convention", "mla", "window", "block", "chunk", "images", "image-size", "image-grid", "text-batch", "image-batch"}},
		{"Devices", []string{"gpu", "devices", "peak", "efficiency", "tokens-per-second", "rate", "overhead"}},
		{"Training", []string{"recompute", "dropout", "dropout-masks", "optimizer", "master-weights", "gradient-dtype", "lora", "lora-targets", "qlora"}},
		{"Parallelism", []string{"data-parallel", "tensor-parallel", "pipeline-parallel", "context-parallel", "expert-parallel", "sequence-parallel",
			"zero", "schedule", "microbatches", "virtual-stages"}},
		{shapeGroup, append(sizes, "kind", "tied", "gated", "ungated", "attention-bias")},
		{sourceGroup, []string{"revision", "subfolder", "variant", "file", "class", "offline", "headers", "token-file", "no-cache", "parallel", "timeout"}},
		{"Output", []string{"format", "explain", "verbose", "quiet", "progress", "help", "version"}},
	}
}

const (
	shapeGroup  = "Shape"
	sourceGroup = "Source"
)

// readsNoModel reports whether no flag of a source has an effect on a command.
func readsNoModel(cmd *cobra.Command) bool {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if slices.Contains([]string{"design", "archs", "version", "cache", "verify", "recordings", "completion", "help"}, c.Name()) {
			return true
		}
	}
	return false
}

// usage writes what a command takes: its examples first, its flags by group.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(w, "  %-*s  %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	writeFlags(w, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more of a command.\n", cmd.CommandPath())
	}
	return nil
}

func writeFlags(w io.Writer, cmd *cobra.Command) {
	groups := append([]flagGroup{{title: ""}}, flagGroups()...)
	sets := make([]*pflag.FlagSet, len(groups))
	for i := range sets {
		sets[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
		sets[i].SortFlags = false
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.AddFlagSet(cmd.LocalFlags())
	all.AddFlagSet(cmd.InheritedFlags())
	for i := range groups { // in the order of the table
		if groups[i].title == shapeGroup && all.Lookup("d") == nil {
			continue // whose --layers is another
		}
		for _, name := range groups[i].names {
			if flag := all.Lookup(name); flag != nil {
				sets[i].AddFlag(flag)
			}
		}
	}
	all.VisitAll(func(flag *pflag.Flag) {
		if !slices.ContainsFunc(sets, func(s *pflag.FlagSet) bool { return s.Lookup(flag.Name) != nil }) {
			sets[0].AddFlag(flag)
		}
	})
	for i, set := range sets {
		if groups[i].title == sourceGroup && readsNoModel(cmd) || !set.HasAvailableFlags() {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n%s", orText(groups[i].title, "Flags"), set.FlagUsagesWrapped(helpWidth(cmd.OutOrStdout())))
	}
}

// helpWidth is that of the terminal, within what reads well.
func helpWidth(w io.Writer) int {
	const usual, most = 80, 110
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(width, most)
		}
	}
	return usual
}

// examples are command lines of the help, a line each.
func examples(lines ...string) string {
	return "  hf-inspect " + strings.Join(lines, "\n  hf-inspect ")
}
