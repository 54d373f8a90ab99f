package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

type listener struct {
	acts  []string
	steps []Step
	lines []string
	rows  [][]string
}

func (l *listener) Act(_ int, title string) { l.acts = append(l.acts, title) }
func (l *listener) Step(s Step)             { l.steps = append(l.steps, s) }
func (l *listener) Rows(rows [][]string)    { l.rows = rows }
func (l *listener) Line(text string)        { l.lines = append(l.lines, text) }

// The hooks' part of the story, told as it happens; the commands belong to
// someone else, and an error of theirs ends the play.
func TestPlay(t *testing.T) {
	t.Parallel()
	for _, lang := range []message.Lang{message.ZH, message.EN} {
		var heard listener
		broken := errors.New("broken")
		var asked []string
		report, err := Play(context.Background(), Options{
			Dir: t.TempDir(), Lang: lang, Now: time.Now, Version: "test", Audience: &heard,
			Command: func(_ context.Context, _ Home, args ...string) ([]byte, error) {
				if asked = args; args[0] == "compact" {
					return []byte(`{"summaryStates":["csv"],"summaryLacks":["rejected.csv"]}`), nil
				}
				return nil, broken
			},
		})
		if !errors.Is(err, broken) || len(asked) == 0 || asked[0] != "compress" || asked[len(asked)-1] != "--json" {
			t.Errorf("%s: %v after %q", lang, err, asked)
		}
		if len(heard.rows) != 2 || heard.rows[1][2] == "" || len(heard.acts) != 3 || len(heard.steps) != len(report.Steps) || len(report.Claims) < 8 {
			t.Errorf("%s: %d acts, %d of %d steps told, %d claims", lang, len(heard.acts), len(heard.steps), len(report.Steps), len(report.Claims))
		}
		for i, s := range report.Steps {
			if s.N != i+1 || heard.steps[i].N != s.N || s.Act == "" || len(s.Input) == 0 {
				t.Errorf("%s: step %d: %+v", lang, i, s)
			}
		}
		for _, c := range report.Claims {
			if !strings.Contains(strings.Join(heard.lines, "\n"), c.Text) {
				t.Errorf("%s: %q was not told", lang, c.Text)
			}
		}
	}
}

// A claim that does not hold is an error, not a line.
func TestClaimFails(t *testing.T) {
	t.Parallel()
	var heard listener
	d := &play{Options: Options{Lang: message.EN, Audience: &heard}}
	if d.claim(false, message.DemoClaimGuarded); d.err == nil || len(heard.lines)+len(d.Claims) > 0 {
		t.Errorf("%v, %q", d.err, heard.lines)
	}
}
