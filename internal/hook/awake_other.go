//go:build !linux && !darwin

package hook

import "time"

// Awake cannot be told here: barriers go by the clock.
func Awake() time.Duration { return 0 }
