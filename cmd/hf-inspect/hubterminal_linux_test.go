package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

// On a terminal the progress of several shards is shown, unless somebody said
// that it should not be.
func TestProgressOnTerminal(t *testing.T) {
	h := hubtest.Start(t)
	h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(3, 2)})
	h.Add(hubtest.Repo{ID: "org/small", Files: map[string]hubtest.File{
		"model.safetensors": hubtest.Safetensors(hubtest.Tensor{Name: "w", DType: "F32", Shape: []int64{3}}),
	}})
	for _, tt := range []struct {
		model, flag, env string
		shown            bool
	}{
		{model: "org/big", shown: true},
		{model: "org/small"},
		{model: "org/big", flag: "--quiet"},
		{model: "org/big", flag: "--progress=never"},
		{model: "org/big", env: "CI=true"},
		{model: "org/big", env: "HF_HUB_DISABLE_PROGRESS_BARS=1"},
	} {
		args := []string{tt.model, "--no-cache", "--headers=ranges"}
		if tt.flag != "" {
			args = append(args, tt.flag)
		}
		text := onTerminal(t, append(h.Env(t.TempDir()), "CI=", tt.env), args...)
		if shown := bytes.Contains(text, []byte("(1/3)")); shown != tt.shown {
			t.Errorf("%v: shown %v: %q", tt, shown, text)
		}
	}
}

// onTerminal runs hf-inspect with its standard error on a terminal and returns
// what that showed.
func onTerminal(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	master, slave := terminal(t)
	defer master.Close()
	cmd := exec.Command("hf-inspect", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	text, _ := io.ReadAll(master) // ends with an error once nobody writes any more
	_ = cmd.Wait()                // the tiny models have error findings
	return text
}

func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no terminals here:", err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	return master, slave
}
