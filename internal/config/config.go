// Package config reads the user's settings: one YAML file and a few environment
// variables over documented defaults.
//
// Nothing here fails hard, because hooks read the settings on every call and a
// typing mistake must not stop the host: a value that cannot be used becomes a
// [Problem] with file, line and key, that key keeps its default, and every other
// key keeps what the file says. A line that is not YAML costs the section that it
// stands in.
//
// [DecodeYAML] is the same tolerant decoder for other YAML, such as the front matter
// of prompts. The package is the only user of the YAML library and shows none of
// its types. It does not write files and does not say anything to anyone: what
// to do with the problems is the caller's choice.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Config holds the settings. Tags name the keys and their limits, and say which no list
// shows; keys.txt explains them.
type Config struct {
	Language Language `yaml:"language"`
	Strict   bool     `yaml:"strict"`
	Workflow Workflow `yaml:"workflow"`
	Compact  Compact  `yaml:"compact"`
	Compress Compress `yaml:"compress"`
	Cleanup  Cleanup  `yaml:"cleanup"`
	// Prices are those of models, by their names or the beginnings of them.
	Prices map[string]Price `yaml:"prices"`

	// Chosen: the file or a variable names a language. Where neither does, Language
	// is only the default.
	Chosen bool `yaml:"-"`
}

// Workflow sets the limits of the engine.
type Workflow struct {
	MaxRetries        int           `yaml:"max_retries" min:"0" max:"100"`
	MaxCrashes        int           `yaml:"max_crashes" min:"1" max:"100" list:"no"`
	BarrierTimeout    time.Duration `yaml:"barrier_timeout" min:"1s" max:"24h"`
	LoopMaxIterations int           `yaml:"loop_max_iterations" min:"1" max:"10000"`
	Guard             bool          `yaml:"guard"`
}

// Compact says when and how contexts are compacted.
type Compact struct {
	ThresholdBytes        int64  `yaml:"threshold_bytes" min:"1"`
	MinStagesSinceCompact int    `yaml:"min_stages_since_compact" min:"0" max:"1000"`
	Mode                  string `yaml:"mode" oneof:"off tag suggest auto"`
	ContextWindow         int    `yaml:"context_window" min:"0" max:"100000000"`
	CeilingTokens         int    `yaml:"ceiling_tokens" min:"0" max:"100000000" list:"no"`
	NativeWindow          int    `yaml:"native_window" min:"100000" max:"1000000" list:"no"`
	NativePercent         int    `yaml:"native_percent" min:"1" max:"100" list:"no"`
	Resume                string `yaml:"resume" oneof:"evidence always never"`
	AtPrompt              bool   `yaml:"at_prompt"`
	Announce              bool   `yaml:"announce"`

	// What follows the auto-compact prompt file may set as well; see [Compact.Over].
	PacketAuthor string  `yaml:"packet_author" oneof:"watcher agent" list:"no"`
	Trigger      Trigger `yaml:"trigger"`
	Packet       Packet  `yaml:"packet"`
	Markers      Markers `yaml:"markers"`
	// Prompt is that file's body: what an agent is asked that writes its own packet.
	Prompt string `yaml:"-"`

	// Set lists the keys of this section that the settings file sets.
	Set []string `yaml:"-"`
}

// Trigger holds the tiers' thresholds in percent of the window that is free, and
// the boundaries that count.
type Trigger struct {
	EarlyPercentRemainingLT     float64  `yaml:"early_percent_remaining_lt" min:"0" max:"100"`
	ReadyPercentRemainingLT     float64  `yaml:"ready_percent_remaining_lt" min:"0" max:"100"`
	AsapPercentRemainingLT      float64  `yaml:"asap_percent_remaining_lt" min:"0" max:"100"`
	EmergencyPercentRemainingLT float64  `yaml:"emergency_percent_remaining_lt" min:"0" max:"100"`
	AutoRequiresAnyBoundary     []string `yaml:"auto_requires_any_boundary" oneof:"commit pr_checkpoint plan_checkpoint plan_update agent_done topic_shift concluding_thought stage_complete turn_end turn_complete"`
}

// Packet shapes the continuation packet.
type Packet struct {
	MaxTailChars int           `yaml:"max_tail_chars" min:"0" max:"20000" list:"no"`
	Expiry       time.Duration `yaml:"expiry" min:"1m" max:"720h" list:"no"`
}

// Markers are the phrases that make an agent's message a signal.
type Markers struct {
	AgentDone         []string `yaml:"agent_done" list:"no"`
	AgentDoneNegative []string `yaml:"agent_done_negative" list:"no"`
	TopicShift        []string `yaml:"topic_shift" list:"no"`
	ConcludingThought []string `yaml:"concluding_thought" list:"no"`
}

// Over is the section over a prompt file's: where the settings file says nothing,
// the prompt file's author, trigger, packet and markers hold.
func (c Compact) Over(file Compact) Compact {
	out := c
	out.PacketAuthor, out.Trigger, out.Packet, out.Markers = file.PacketAuthor, file.Trigger, file.Packet, file.Markers
	from, to := reflect.ValueOf(c), reflect.ValueOf(&out).Elem()
	for _, key := range c.Set {
		f := fieldAt(to, from, key)
		f.value.Set(f.base)
	}
	return out
}

// Disorder reports the first tier that is never reached, because the tier behind it begins
// while more of the window is free. A tier of 0 never begins, which is a way to do without
// it. The values hold all the same. The problem names promptFile where the settings file
// sets neither of the two.
func (c Compact) Disorder(promptFile string) []Problem {
	const rest = "_percent_remaining_lt"
	t := c.Trigger
	before, above := "", 100.0
	for _, tier := range []struct {
		name string
		at   float64
	}{
		{"early", t.EarlyPercentRemainingLT},
		{"ready", t.ReadyPercentRemainingLT},
		{"asap", t.AsapPercentRemainingLT},
		{"emergency", t.EmergencyPercentRemainingLT},
	} {
		if tier.at > above {
			file, key := "", "compact.trigger."
			if own := "trigger."; !slices.Contains(c.Set, own+before+rest) && !slices.Contains(c.Set, own+tier.name+rest) {
				file, key = promptFile, own
			}
			return []Problem{say("%[1]v 低於 %[2]s（%[3]v），永遠不會到層級 %[4]s；順序要是 early ≥ ready ≥ asap ≥ emergency",
				"%[1]v is below %[2]s (%[3]v), so that the tier %[4]s is never reached; the order is early ≥ ready ≥ asap ≥ emergency",
				above, tier.name+rest, tier.at, before).at(file, 0, key+before+rest)}
		}
		if tier.at > 0 {
			before, above = tier.name, tier.at
		}
	}
	return nil
}

// Compress sets up the compression of old history.
type Compress struct {
	Provider           string  `yaml:"provider" oneof:"builtin openrouter openai anthropic claude"`
	Model              string  `yaml:"model"`
	BaseURL            string  `yaml:"base_url" prefix:"https:// http://"`
	Targets            Targets `yaml:"targets"`
	Concurrency        int     `yaml:"concurrency" min:"1" max:"64" list:"no"`
	MaxAttempts        int     `yaml:"max_attempts" min:"1" max:"20" list:"no"`
	TimeoutInitialMS   int     `yaml:"timeout_initial_ms" min:"1" max:"3600000" list:"no"`
	TimeoutIncrementMS int     `yaml:"timeout_increment_ms" min:"0" max:"3600000" list:"no"`
	MinTokens          int     `yaml:"min_tokens" min:"0" max:"1000000" list:"no"`
}

// Targets are the percentages of the original length that each level aims at.
type Targets struct {
	Compress      int `yaml:"compress" min:"1" max:"100"`
	HeavyCompress int `yaml:"heavy_compress" min:"1" max:"100"`
}

// Cleanup says when what a finished session left is removed.
type Cleanup struct {
	AfterDays int `yaml:"after_days" min:"1" max:"3650"`
}

// Price is what a million tokens of a model cost, in US dollars.
type Price struct {
	Input      float64 `yaml:"input" min:"0"`
	Output     float64 `yaml:"output" min:"0"`
	CacheWrite float64 `yaml:"cache_write" min:"0" like:"Input"`
	CacheRead  float64 `yaml:"cache_read" min:"0" like:"Input"`
}

// Defaults returns the settings of an empty file.
func Defaults() Config {
	return Config{
		Language: "zh-TW",
		Workflow: Workflow{
			MaxRetries:        3,
			MaxCrashes:        3,
			BarrierTimeout:    5 * time.Minute,
			LoopMaxIterations: 100,
			Guard:             true,
		},
		Compact: Compact{
			ThresholdBytes:        5_000_000,
			MinStagesSinceCompact: 2,
			Mode:                  "suggest",
			NativeWindow:          100_000,
			NativePercent:         60,
			Resume:                "evidence",
			AtPrompt:              true,
			Announce:              true,
			PacketAuthor:          "watcher",
			Trigger: Trigger{
				EarlyPercentRemainingLT: 50, ReadyPercentRemainingLT: 35, AsapPercentRemainingLT: 30, EmergencyPercentRemainingLT: 15,
				AutoRequiresAnyBoundary: []string{"commit", "pr_checkpoint", "plan_checkpoint", "agent_done", "stage_complete", "turn_end"},
			},
			Packet:  Packet{MaxTailChars: 1200, Expiry: 24 * time.Hour},
			Markers: defaultMarkers(),
		},
		Compress: Compress{
			Provider:           "builtin",
			Targets:            Targets{Compress: 35, HeavyCompress: 10},
			Concurrency:        10,
			MaxAttempts:        4,
			TimeoutInitialMS:   5000,
			TimeoutIncrementMS: 5000,
			MinTokens:          20,
		},
		Cleanup: Cleanup{AfterDays: 3},
	}
}

// Language is a language of the message catalogue, "zh-TW" or "en". Locale names
// (zh_TW.UTF-8, en-US) are understood and stored in that short form.
type Language string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Language) UnmarshalText(b []byte) error {
	name, _, _ := strings.Cut(strings.ToLower(string(b)), ".")
	base, _, _ := strings.Cut(strings.ReplaceAll(name, "_", "-"), "-")
	switch base {
	case "zh":
		*l = "zh-TW"
	case "en":
		*l = "en"
	default:
		return say("要 zh-TW 或 en", "want zh-TW or en")
	}
	return nil
}

// Problem is one thing in the settings that could not be used. It is an error so
// that it can be printed like one; it never stops anything.
type Problem struct {
	File string // as given by the caller; empty for an environment variable
	Line int    // from 1; 0 when the file as a whole is meant
	Key  string // dotted key, or the name of the variable
	Msg  string
	ZH   string // Msg for those who read Chinese; empty where it is the system's own
}

func (p Problem) Error() string { return p.In("en") }

// In is the problem in a language, "en" or "zh-TW".
func (p Problem) In(lang string) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	if lang == "en" || p.ZH == "" {
		b.WriteString(p.Msg)
	} else {
		b.WriteString(p.ZH)
	}
	return b.String()
}

// said is a text in both languages, and an error. The catalogue of texts lies beside this
// package, not below it.
type said struct{ zh, en string }

func (s said) Error() string { return s.en }

func (s said) at(file string, line int, key string) Problem {
	return Problem{File: file, Line: line, Key: key, Msg: s.en, ZH: s.zh}
}

// say fills a text; what is filled in may be in both languages as well.
func say(zh, en string, args ...any) said {
	inZH, inEN := make([]any, len(args)), make([]any, len(args))
	for i, a := range args {
		inZH[i], inEN[i] = a, a
		if s, ok := a.(said); ok {
			inZH[i], inEN[i] = s.zh, s.en
		}
	}
	return said{fmt.Sprintf(zh, inZH...), fmt.Sprintf(en, inEN...)}
}

// saidOf is an error's text; the system's own are the same in both.
func saidOf(err error) said {
	if s, ok := errors.AsType[said](err); ok {
		return s
	}
	return said{err.Error(), err.Error()}
}

// Load reads the settings file and applies the environment on top. A missing
// file is no problem. Either argument may be empty (nil).
func Load(path string, getenv func(string) string) (Config, []Problem) {
	c, _, problems := LoadFrom(path, getenv)
	return c, problems
}

// FromFile is the origin of a key that the settings file sets.
const FromFile = "file"

// LoadFrom is [Load] with the origin of each key that has no default value:
// FromFile, or the name of the variable.
func LoadFrom(path string, getenv func(string) string) (Config, map[string]string, []Problem) {
	c := Defaults()
	origins := map[string]string{}
	var problems []Problem
	if path != "" {
		src, err := ReadFile(path, maxSource)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, Unread(path, err))
		default:
			d := decodeYAML(src, path, 1, &c)
			problems = d.problems
			for _, key := range d.set {
				origins[key] = FromFile
				if key, ok := strings.CutPrefix(key, "compact."); ok {
					c.Compact.Set = append(c.Compact.Set, key)
				}
			}
		}
	}
	if getenv != nil {
		problems = append(problems, applyEnv(&c, getenv, origins)...)
	}
	_, c.Chosen = origins["language"]
	return c, origins, problems
}

// ReadFile returns the content of a regular file of at most limit bytes. Other
// kinds are refused because opening a pipe would block a hook for ever. The
// error does not repeat the path.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, say("不是一般檔案", "not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, bare(err)
	}
	if int64(len(src)) > limit {
		return nil, say("超過 %d KiB", "larger than %d KiB", limit>>10)
	}
	return src, nil
}

// Unread is the problem of a file that [ReadFile] could not read.
func Unread(path string, err error) Problem {
	text := saidOf(err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		text.zh = "沒有權限"
	case errors.Is(err, fs.ErrNotExist):
		text.zh = "沒有這個檔案"
	}
	return text.at(path, 0, "")
}

func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
