package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// The environment wins over the file. A variable that is set to nothing counts
// as not set. One without an apply is written as its key would be in the file.
var environment = []struct {
	name, key string
	apply     func(c *Config, v string) error
}{
	{"OVERTONE_LANG", "language", nil},
	{"OVERTONE_STRICT", "strict", func(c *Config, v string) (err error) {
		switch strings.ToLower(v) {
		case "1", "t", "true", "yes", "on":
			c.Strict = true
		case "0", "f", "false", "no", "off":
			c.Strict = false
		default:
			err = say("要 true 或 false", "want true or false")
		}
		return err
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
	{"OVERTONE_COMPACT_MODE", "compact.mode", nil},
	{"CLAUDE_PIPELINE_MAX_RETRIES", "workflow.max_retries", nil},
}

func applyEnv(c *Config, getenv func(string) string, origins map[string]string) []Problem {
	var problems []Problem
	for _, e := range environment {
		v := strings.TrimSpace(getenv(e.name))
		if v == "" {
			continue
		}
		var err error
		if e.apply != nil {
			err = e.apply(c, v)
		} else {
			f := fieldAt(reflect.ValueOf(c).Elem(), reflect.ValueOf(c).Elem(), e.key)
			_, err = setLeaf(f.value, Node{Kind: Scalar, Text: v}, f.tag)
		}
		if err != nil {
			problems = append(problems, say("%s，這裡是 %s", "%s, got %s", saidOf(err), quote(v)).at("", 0, e.name))
			continue
		}
		origins[e.key] = e.name
	}
	return problems
}
