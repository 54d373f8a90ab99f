package hook

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// StatusLine is the host's status line: where the workflow stands and how full
// the context is. The host tells the window's size here and nowhere else, so it
// is remembered for the gate. Like a hook it never fails.
func StatusLine(env Env) (line string) {
	c := &call{env: env, event: "statusline", host: host.Of(host.ClaudeCode)} // no other host has one
	defer c.speakUp()
	defer func() {
		if p := recover(); p != nil {
			c.complain("safeRun", fmt.Errorf("panic: %v", p))
			line = ""
		}
	}()
	if err := c.open(); err != nil {
		return ""
	}
	var parts []string
	s, err := session.Peek(c.sess)
	switch {
	case err != nil || s == nil:
	case s.Broken():
		parts = append(parts, fmt.Sprintf("🎵 %s %s", s.WorkflowType, message.Named("ended", s.Ended).In(c.lang)))
	case s.Active:
		done, total := s.Progress()
		part := fmt.Sprintf("🎵 %s %d/%d", s.WorkflowType, done, total)
		if at := s.Running(); at != "" {
			part += " " + strings.TrimSpace(s.Describe(at, c.lang))
		}
		if n := s.Unverified(); n > 0 {
			part += " " + message.RouteUnverifN.Format(c.lang, n)
		}
		parts = append(parts, part)
	}
	window := c.in.Window
	used := c.in.Used
	m := session.Read(c.sess)
	// What the environment or the name chooses is no property of the model.
	model := host.ModelID(c.in.Model)
	if window > 0 && model != "" && !strings.Contains(c.in.Model, "[") && c.host.Window(c.env.Getenv) == 0 &&
		window != cmp.Or(c.home.Window(model), host.ModelWindow(model)) {
		if err := c.home.LearnWindow(model, window); err != nil {
			c.complain("statusline", err)
		}
	}
	if window > 0 && window != m.Thread.Window {
		if err := c.update(func(tx *session.Tx) error {
			tx.Observe(host.SessionSeen{Window: window}, compact.Settings{})
			return nil
		}); err != nil {
			c.complain("statusline", err)
		}
	}
	if u := (compact.Usage{Used: used, Window: window}); u.Known() {
		part := message.StatusContext.Format(c.lang, u.Remaining())
		set := c.cfg.Compact
		if set.Mode == compact.ModeAuto {
			set = c.settings()
		}
		in := m.Weigh(s, c.now, set)
		if in.Usage = u; in.Signals != 0 {
			part += " · " + compact.Names(in.Signals.List())
		}
		if in.Next(c.host.Gates) == compact.AtNextPrompt && !m.RunsOn(s) {
			part += " · " + message.StatusCompacts.Format(c.lang, compact.AtNextPrompt.In(c.lang))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}
