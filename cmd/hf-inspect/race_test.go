//go:build race

package main

// raced says that the race detector is in: it takes memory and time of its own.
const raced = true
