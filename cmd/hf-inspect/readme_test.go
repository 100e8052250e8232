package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runOffline runs a command line in the test's process.
func runOffline(t *testing.T, words ...string) string {
	t.Helper()
	t.Setenv("HF_HUB_OFFLINE", "1")
	t.Setenv("HF_HOME", t.TempDir())
	t.Setenv("HF_INSPECT_CACHE", t.TempDir())
	root := newRoot(nil)
	root.SetArgs(words)
	var out, errors bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&errors)
	if err := root.Execute(); err != nil {
		t.Errorf("%v: %v, %s", words, err, errors.String())
	}
	return out.String()
}

// TestREADMECommands runs every command line of the README's blocks.
func TestREADMECommands(t *testing.T) {
	ran := 0
	for _, line := range regexp.MustCompile(`(?m)^(go run \./cmd/)?hf-inspect .*$`).FindAllString(readme(t), -1) {
		line, _, _ = strings.Cut(line, "#")
		_, line, _ = strings.Cut(line, "hf-inspect ")
		if out := runOffline(t, strings.Fields(line)...); strings.Count(out, "\n") < 3 {
			t.Errorf("%s answers %q", line, out)
		}
		ran++
	}
	if ran < 7 {
		t.Errorf("only %d commands", ran)
	}
}

// TestREADMEScreen: the screen that the README shows is the program's.
func TestREADMEScreen(t *testing.T) {
	if screen := runOffline(t, "gpt2-xl"); !strings.Contains(readme(t), "```\n"+screen+"```\n") {
		t.Errorf("the README does not show\n%s", screen)
	}
}

// TestREADMETable: the table has every command, and no other.
func TestREADMETable(t *testing.T) {
	text := readme(t)
	everyCommand(newRoot(nil), func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Name() != "inspect" && !regexp.MustCompile("`[^`]*\\b"+cmd.Name()+"\\b[^`]*`").MatchString(text) {
			t.Errorf("the README does not name %s", cmd.CommandPath())
		}
	})
	for _, m := range regexp.MustCompile("(?m)^\\| `hf-inspect ([a-z]+)").FindAllStringSubmatch(text, -1) {
		if cmd, _, err := newRoot(nil).Find(m[1:]); err != nil || cmd.Name() != m[1] {
			t.Errorf("the README names %s", m[1])
		}
	}
}
