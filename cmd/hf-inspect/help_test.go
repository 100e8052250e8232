package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// everyCommand visits the commands that the program itself has.
func everyCommand(root *cobra.Command, visit func(*cobra.Command)) {
	visit(root)
	for _, c := range root.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			everyCommand(c, visit)
		}
	}
}

// exampleLines returns the words of each example of each command.
func exampleLines(t *testing.T) [][]string {
	var lines [][]string
	everyCommand(newRoot(nil), func(cmd *cobra.Command) {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			line, _, _ = strings.Cut(line, "    #")
			line, _, _ = strings.Cut(line, " < ")
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(words) == 0 || words[0] != "hf-inspect" {
				t.Errorf("%s: %q is no call", cmd.CommandPath(), line)
				continue
			}
			lines = append(lines, words[1:])
		}
	})
	return lines
}

// TestExamples: every line of the help is one that the program takes. Those that
// name no file or model are run.
func TestExamples(t *testing.T) {
	t.Setenv("HF_INSPECT_CACHE", t.TempDir())
	for _, words := range exampleLines(t) {
		root := newRoot(nil)
		cmd, rest, err := root.Find(words)
		if err != nil {
			t.Errorf("%v: %v", words, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%v: %v", words, err)
			continue
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%v: %v", words, err)
		}
		if len(cmd.Flags().Args()) > 0 || cmd.Parent() == root && cmd.Name() == "inspect" {
			continue
		}
		again := newRoot(nil)
		again.SetArgs(words)
		var out, errors bytes.Buffer
		again.SetOut(&out)
		again.SetErr(&errors)
		if err := again.Execute(); err != nil || out.Len() == 0 || errors.Len() > 0 {
			t.Errorf("%v: %v, %s", words, err, errors.String())
		}
	}
}

// TestHelpGroups: every flag of a command stands under one head, and in a group
// wherever the table has it.
func TestHelpGroups(t *testing.T) {
	help := func(args ...string) string {
		root := newRoot(nil)
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append(args, "--help"))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := help("memory")
	at := -1
	for _, head := range []string{"\nWorkload:", "\nDevices:", "\nTraining:", "\nParallelism:", "\nShape:", "\nSource:", "\nOutput:"} {
		if next := strings.Index(text, head); next <= at {
			t.Errorf("memory --help has no%s in its place", head)
		} else {
			at = next
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("long line: %s", line)
		}
	}
	for _, command := range []string{"design", "archs", "version"} {
		if text := help(command); strings.Contains(text, "--token-file") {
			t.Errorf("%s --help shows the flags of a source", command)
		}
	}
	if strings.Count(help(), "--layers") != 2 { // an example, and the flag
		t.Error("the first help shows --layers oddly")
	}
}
