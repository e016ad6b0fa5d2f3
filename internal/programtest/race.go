//go:build race

package programtest

// RaceDetector reports whether the race detector is enabled.
const RaceDetector = true
