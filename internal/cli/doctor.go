package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/store"
)

func (a *app) doctorCmd() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "doctor", Short: message.HelpDoctor.In(a.lang), Long: message.HelpDoctorLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{app: a}
			cfg, problems := a.env.config()
			d.checkHome()
			d.checkConfig(problems)
			d.checkPrompt()
			d.checkBinary(cmd.Context())
			claude, codex := d.checkClaude(cmd.Context(), cfg), d.checkCodex(cmd.Context())
			if !claude && !codex {
				d.advise(d.add("installed", "warn", message.DoctorNowhere), message.HintInit)
			}
			if err := d.checkSession(session); err != nil {
				return err
			}
			return d.conclude()
		},
	}
	a.sessionFlag(cmd, &session)
	return cmd
}

// doctor collects what it finds and changes nothing.
type doctor struct {
	*app
	findings []finding
}

// finding is the outcome of one check. Only a fail is broken; a note is neither
// good nor bad.
type finding struct {
	ID     string               `json:"id"`
	Status string               `json:"status"` // ok, note, warn, fail
	Text   string               `json:"text"`
	Hint   string               `json:"hint,omitempty"`
	Fired  map[string]time.Time `json:"fired,omitempty"` // of hooks: when each was last called
}

func (d *doctor) add(id, status string, t message.Text, args ...any) *finding {
	d.findings = append(d.findings, finding{ID: id, Status: status, Text: t.Format(d.lang, args...)})
	return &d.findings[len(d.findings)-1]
}

// advise says what to do about a finding.
func (d *doctor) advise(f *finding, t message.Text, args ...any) { f.Hint = t.Format(d.lang, args...) }

func (d *doctor) conclude() error {
	count := map[string]int{}
	for _, f := range d.findings {
		count[f.Status]++
	}
	if d.json {
		err := d.printJSON(struct {
			Schema int       `json:"schema"`
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
		}{1, count["fail"] == 0, d.findings})
		if err != nil {
			return err
		}
	} else {
		marks := map[string]string{"ok": "✓", "note": "·", "warn": "⚠", "fail": "✗"}
		for _, f := range d.findings {
			fmt.Fprintln(d.env.Stdout, marks[f.Status]+" "+f.Text)
			if f.Hint != "" {
				fmt.Fprintln(d.env.Stdout, "  → "+f.Hint)
			}
		}
	}
	switch {
	case count["fail"] > 0:
		return message.Fail(message.DoctorBroken, count["fail"])
	case d.json:
	case count["warn"] > 0:
		d.say(message.DoctorWarned, count["warn"])
	default:
		d.say(message.DoctorFine)
	}
	return nil
}

// checkHome looks at the disk, the modes, the locks and what was left behind.
func (d *doctor) checkHome() {
	home := d.env.store()
	root := home.Root()
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		d.add("disk", "note", message.DoctorNoHome, d.short(root))
		return
	}
	probe, err := os.CreateTemp(root, ".doctor-*")
	if err == nil {
		_, err = probe.WriteString("x")
		err = errors.Join(err, probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		d.advise(d.add("disk", "fail", message.DoctorNoDisk, d.short(root), err.Error()), message.HintDisk)
	} else {
		d.add("disk", "ok", message.DoctorDisk, d.short(root))
	}
	h, err := home.Health(store.HealthOptions{Limit: 20_000, Wait: 500 * time.Millisecond})
	if err != nil {
		d.advise(d.add("permissions", "fail", message.DoctorWalk, d.short(root), err.Error()), message.HintDisk)
		return
	}
	if n := len(h.Loose); n > 0 {
		d.advise(d.add("permissions", "fail", message.DoctorLoose, n, d.short(h.Loose[0])), message.HintModesFix, d.short(root))
	}
	if n := len(h.Open); n > 0 {
		d.advise(d.add("permissions", "warn", message.DoctorOpen, n, d.short(h.Open[0])), message.HintModesFix, d.short(root))
	}
	if len(h.Loose)+len(h.Open) == 0 {
		d.add("permissions", "ok", message.DoctorModes, h.Seen)
	}
	if len(h.Held) > 0 {
		d.advise(d.add("locks", "warn", message.DoctorHeld, strings.Join(h.Held, ", ")), message.HintHeld)
	} else {
		d.add("locks", "ok", message.DoctorLocks)
	}
	if n := len(h.Leftover); n > 0 {
		d.advise(d.add("leftovers", "warn", message.DoctorLeft, n, d.short(h.Leftover[0])), message.HintLeft)
	}
}

func (d *doctor) checkConfig(problems []config.Problem) {
	path := d.env.store().ConfigFile()
	for _, p := range problems {
		p.File = d.shortName(p.File)
		d.advise(d.add("config", "warn", message.WarnConfig, p.Error()), message.HintConfig)
	}
	if len(problems) > 0 {
		return
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.add("config", "note", message.DoctorNoConfig, d.short(path))
		return
	}
	d.add("config", "ok", message.DoctorConfig, d.short(path))
}

// shortName is short for a name that may be missing.
func (d *doctor) shortName(path string) string {
	if path == "" {
		return ""
	}
	return d.short(path)
}

func (d *doctor) checkPrompt() {
	path := filepath.Join(d.env.store().Root(), "auto-compact.md")
	data, err := config.ReadFile(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		d.add("prompt", "note", message.DoctorNoPrompt, d.short(path))
		return
	}
	if err != nil {
		d.advise(d.add("prompt", "warn", message.DoctorBadJSON, d.short(path), err.Error()), message.HintConfig)
		return
	}
	_, problems := prompt.ParseAutoCompact(data, d.short(path))
	for _, p := range problems {
		d.advise(d.add("prompt", "warn", message.WarnConfig, p.Error()), message.HintConfig)
	}
	if len(problems) == 0 {
		d.add("prompt", "ok", message.DoctorPrompt, d.short(path))
	}
}

// checkSession looks at one session: the one named, else the last one.
func (d *doctor) checkSession(id string) error {
	if id == "" && len(d.recentSessions(1)) == 0 {
		d.add("session", "note", message.DoctorNoSession)
		return nil
	}
	quiet := *d.app
	quiet.json = true // the session is named in the findings
	s, err := quiet.session(id, true)
	if err != nil {
		return err
	}
	_, stats, err := s.Last(math.MaxInt, store.Filter{})
	switch {
	case err != nil:
		d.advise(d.add("timeline", "fail", message.DoctorUnread, s.ID(), store.TimelineFile, err.Error()), message.HintDisk)
	case stats.Bad > 0:
		d.advise(d.add("timeline", "warn", message.DoctorBadLines, s.ID(), stats.Bad), message.HintBadLines)
	default:
		d.add("timeline", "ok", message.DoctorTimeline, s.ID(), stats.Lines)
	}
	switch state, err := hook.Peek(s); {
	case err != nil:
		d.advise(d.add("workflow", "fail", message.DoctorUnread, s.ID(), store.WorkflowFile, err.Error()), message.HintUnread)
	case state != nil:
		d.add("workflow", "ok", message.DoctorState)
	}
	d.checkReceipt(s)
	return nil
}

// running is how long a compaction may take before nobody believes in it.
const running = 10 * time.Minute

// checkReceipt says what became of the session's last compaction, and of the
// text that was saved for it.
func (d *doctor) checkReceipt(s *store.Session) {
	data, err := s.Version(hook.MemoryFile)
	k := gjson.GetBytes(data, "compaction")
	if err != nil || !gjson.ValidBytes(data) || !k.Exists() || k.Get("sub").Bool() {
		d.checkPacket(s)
		return
	}
	n, trigger := k.Get("n").Int(), k.Get("trigger").String()
	if trigger == "" {
		trigger = "?"
	}
	receipt := k.Get("receipt")
	state := receipt.Get("state").String()
	const id = "receipt"
	switch status := k.Get("status").String(); {
	case status == "failed":
		d.add(id, "warn", message.DoctorFailed, n, trigger)
	case status == "begun" && d.env.Now().Sub(k.Get("at").Time()) < running:
		d.add(id, "note", message.DoctorRunning, n, trigger)
	case status == "begun":
		d.add(id, "warn", message.DoctorFailed, n, trigger)
	case !receipt.Exists():
		d.add(id, "ok", message.DoctorEmpty, n, trigger)
	case state == "delivered":
		d.add(id, "ok", message.DoctorReceipt, n, trigger, receipt.Get("via").String())
	case state == "delivering":
		d.add(id, "ok", message.DoctorHanded, n, trigger, receipt.Get("via").String())
	case state == "expired", state == "dropped":
		why := receipt.Get("reason").String()
		if why == "" {
			why = state
		}
		d.advise(d.add(id, "warn", message.DoctorLost, n, trigger, why), message.HintLost, s.ID())
	default:
		d.advise(d.add(id, "warn", message.DoctorWaiting, n, trigger), message.HintWaiting)
	}
}

// checkPacket is checkReceipt for a session whose compactions a watcher drives:
// the timeline has the receipt.
func (d *doctor) checkPacket(s *store.Session) {
	filter := store.Filter{Types: []string{
		message.EventPacketCreated, message.EventPacketDelivered, message.EventPacketExpired, message.EventSessionCompactFailed,
	}}
	for e, err := range s.Newest(filter) {
		if err != nil {
			return // told above
		}
		label, _ := message.EventLabel(e.Type)
		text := label.In(d.lang)
		if t := e.Time(); !t.IsZero() {
			text += " · " + t.Local().Format("01-02 15:04")
		}
		status := "warn"
		if e.Type == message.EventPacketDelivered {
			status = "ok"
		}
		f := d.add("receipt", status, message.DoctorPacket, text)
		if status == "warn" {
			d.advise(f, message.HintLost, s.ID())
		}
		return
	}
	d.add("receipt", "note", message.DoctorNoCompact, s.ID())
}

// ago is a time as a person says it; the times of hooks are exact to the hour.
func (d *doctor) ago(t time.Time) string {
	switch h := int(d.env.Now().Sub(t).Hours()); {
	case h < 1:
		return message.AgoNow.In(d.lang)
	case h < 48:
		return message.AgoHours.Format(d.lang, h)
	default:
		return message.AgoDays.Format(d.lang, h/24)
	}
}
