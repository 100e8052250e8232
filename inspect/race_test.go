//go:build race

package inspect

// manyTensors is how many a hostile header has here, and mostEach how many bytes
// may be allocated for each: names beyond any model's are counted together, those
// before are not. The race detector makes all of it some ten times slower.
const manyTensors, mostEach = 60_000, 5000
