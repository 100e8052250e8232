//go:build !race

package inspect

// See the file for the race detector.
const manyTensors, mostEach = 300_000, 1200
