package config

import (
	"math"
	"strconv"
	"strings"
)

// The environment wins over the file. A variable that is set to nothing counts
// as not set.
var environment = []struct {
	name, key string
	apply     func(c *Config, v string) error
}{
	{"OVERTONE_LANG", "language", func(c *Config, v string) error { return c.Language.UnmarshalText([]byte(v)) }},
	{"OVERTONE_STRICT", "strict", func(c *Config, v string) error {
		on, ok := parseBool(v)
		if !ok {
			return say("要 true 或 false", "want true or false")
		}
		c.Strict = on
		return nil
	}},
	{"OVERTONE_COMPACT_THRESHOLD_MB", "compact.threshold_bytes", func(c *Config, v string) error {
		mb, err := strconv.ParseFloat(v, 64)
		// One byte to one exabyte; the test is written so that NaN fails it.
		if err != nil || !(mb*1e6 >= 1 && mb*1e6 <= 1e18) {
			return say("要大於 0 的 MB 數", "want a number of megabytes above 0")
		}
		c.Compact.ThresholdBytes = int64(math.Round(mb * 1e6))
		return nil
	}},
	{"OVERTONE_COMPACT_MODE", "compact.mode", func(c *Config, v string) error {
		switch v {
		case "off", "tag", "suggest", "auto":
			c.Compact.Mode = v
			return nil
		}
		return say("要其中之一：%s", "want one of %s", "off, tag, suggest, auto")
	}},
	{"CLAUDE_PIPELINE_MAX_RETRIES", "workflow.max_retries", func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 100 {
			return say("要 0 到 100 的整數", "want a whole number from 0 to 100")
		}
		c.Workflow.MaxRetries = n
		return nil
	}},
}

func applyEnv(c *Config, getenv func(string) string, origins map[string]string) []Problem {
	var problems []Problem
	for _, e := range environment {
		v := strings.TrimSpace(getenv(e.name))
		if v == "" {
			continue
		}
		if err := e.apply(c, v); err != nil {
			problems = append(problems, say("%s，這裡是 %s", "%s, got %s", saidOf(err), quote(v)).at("", 0, e.name))
			continue
		}
		origins[e.key] = e.name
	}
	return problems
}

func parseBool(v string) (on, ok bool) {
	switch strings.ToLower(v) {
	case "1", "t", "true", "yes", "on":
		return true, true
	case "0", "f", "false", "no", "off":
		return false, true
	}
	return false, false
}
