//go:build !race

package instrumentation

const raceEnabled = false
