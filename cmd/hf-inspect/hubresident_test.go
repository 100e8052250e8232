package main

import (
	"bytes"
	"os"
	"strconv"
)

// noteMemory writes the most memory that this process ever had, in kB, to the
// file that TEST_MEMORY names. The system's account of a child process will not
// do: it begins with what the parent had.
func noteMemory() {
	file := os.Getenv("TEST_MEMORY")
	if file == "" {
		return
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	if fields := bytes.Fields(after); len(fields) > 0 {
		_ = os.WriteFile(file, fields[0], 0o600)
	}
}

// notedMemory reads it, in bytes; 0 where the system does not tell.
func notedMemory(file string) int64 {
	text, _ := os.ReadFile(file)
	kB, _ := strconv.ParseInt(string(text), 10, 64)
	return kB << 10
}
