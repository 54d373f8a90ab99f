package blueprint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// TrustFile holds which files may run which commands. A file is trusted as it was
// when the user read it: who changes it asks again. trustLog has a line for each time
// that one was trusted, or no longer.
const (
	TrustFile = "trusted.json"
	trustLog  = "trust.jsonl"
)

// trusted is a file that the user has read and lets run its commands.
type trusted struct {
	Path     string            `json:"path"`
	Hash     string            `json:"hash"`
	At       time.Time         `json:"at"`
	Commands map[string]string `json:"commands"` // by stage
}

const trustVersion = 1

type trustList struct {
	Version int       `json:"version"`
	Files   []trusted `json:"files"`
}

func readTrust(home string) (trustList, error) {
	var list trustList
	data, err := config.ReadFile(filepath.Join(home, TrustFile), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err == nil && list.Version > trustVersion {
		// Read and written again, it would lose what only that version knows.
		err := fmt.Errorf("%s was written by a newer version", filepath.Join(home, TrustFile))
		return list, message.WithHint(err, message.HintUpgrade, "overtone")
	}
	if err != nil {
		return list, fmt.Errorf("read %s: %w", filepath.Join(home, TrustFile), err)
	}
	return list, nil
}

// Trust remembers that the user trusts a file as it is. What was trusted of it
// before is forgotten.
func Trust(home string, f File, now time.Time) error {
	_, err := changeTrust(home, f, now, true)
	return err
}

// changeTrust changes the list, one process after the other; it reports whether the file
// was trusted before. The log comes first: no file is trusted that it does not name.
func changeTrust(home string, f File, now time.Time, trust bool) (was bool, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return false, err
	}
	unlock, err := store.LockFolder(home)
	if err != nil {
		return false, err
	}
	defer unlock()
	list, err := readTrust(home)
	if err != nil {
		return false, err
	}
	others := slices.DeleteFunc(slices.Clone(list.Files), func(t trusted) bool { return t.Path == f.Path })
	if was = len(others) < len(list.Files); !was && !trust {
		return false, nil
	}
	if err := logTrust(home, f, now, trust); err != nil {
		return was, err
	}
	list.Version, list.Files = trustVersion, others
	if trust {
		list.Files = append(list.Files, trusted{f.Path, hash(f.Source), now.UTC(), f.commands()})
	}
	return was, store.AtomicWrite(filepath.Join(home, TrustFile), store.JSONFile(list), 0o600)
}

func logTrust(home string, f File, now time.Time, trust bool) error {
	line := store.EncodeJSON(struct {
		At      time.Time `json:"at"`
		Trusted bool      `json:"trusted"`
		Path    string    `json:"path"`
		Hash    string    `json:"hash"`
	}{now.UTC(), trust, f.Path, hash(f.Source)})
	log, err := os.OpenFile(filepath.Join(home, trustLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = log.Write(append(line, '\n'))
	return errors.Join(err, log.Close())
}

// TrustedFile is a file that may run commands, and whether it is still as it was read:
// otherwise it runs nothing until it is trusted anew.
type TrustedFile struct {
	Path, Digest string
	At           time.Time
	Same         bool
}

// TrustedFiles lists them.
func TrustedFiles(home string) (files []TrustedFile, err error) {
	list, err := readTrust(home)
	for _, t := range list.Files {
		data, unread := config.ReadFile(t.Path, maxFile)
		files = append(files, TrustedFile{t.Path, digest(t.Hash), t.At, unread == nil && hash(data) == t.Hash})
	}
	return files, err
}

// digest is so much of a hash as a person types.
func digest(hash string) string {
	_, hex, _ := strings.Cut(hash, ":")
	return hex[:min(8, len(hex))]
}

// commands are the commands of a workflow, by stage.
func (f File) commands() map[string]string {
	commands := map[string]string{}
	for _, k := range f.DAG.Keys() {
		if run := f.DAG.Spec(k).Run; run != "" {
			commands[k] = run
		}
	}
	return commands
}

// Command is the command that the user trusts a stage of a run to run: the one of
// the file that the run began with, as the user read it. said is what the run knows
// of it, which may lack a secret: a session's files hold none.
func Command(home string, origin *workflow.Origin, stage, said string) (command string, trusted bool, err error) {
	list, err := readTrust(home)
	if err != nil || origin == nil {
		return "", false, err
	}
	for _, t := range list.Files {
		run := t.Commands[stage]
		if run != "" && t.Hash == origin.Hash && same(t.Path, origin.Path) && same(run, said) {
			return run, true, nil
		}
	}
	return "", false, nil
}

// same reports whether a text is what is said of it, secrets aside.
func same(text, said string) bool {
	if text == said {
		return true
	}
	clean, found := redact.Text(text)
	return len(found) > 0 && clean == said
}

// IsTrusted reports whether the user trusts a file as it is.
func IsTrusted(home string, f File) bool {
	list, err := readTrust(home)
	return err == nil && slices.ContainsFunc(list.Files, func(t trusted) bool { return t.Path == f.Path && t.Hash == hash(f.Source) })
}

// Revoke takes the trust in a file back.
func (f File) Revoke(t *terminal.Terminal, root string) error {
	was, err := changeTrust(root, f, t.Now(), false)
	if err == nil && !was {
		err = message.Fail(message.TrustNot, f.Name)
	}
	if err != nil {
		return err
	}
	return f.tellTrust(t, root, message.TrustRevoked, f.Path)
}

// AskTrust shows what a file runs and asks a person for it. The answer is the digest of
// what is shown, typed: neither a key pressed by mistake, nor a word that was prepared for
// another content, nor what an agent types, at whatever terminal.
func (f File) AskTrust(ctx context.Context, t *terminal.Terminal, root string) error {
	switch {
	case f.Path == "" || !f.Runs():
		return f.tellTrust(t, root, message.TrustNothing, f.Name)
	case IsTrusted(root, f):
		return f.tellTrust(t, root, message.TrustAlready, f.Path)
	}
	if err := f.byPerson(t); err != nil {
		return err
	}
	fmt.Fprintln(t.Stderr, message.TrustShow.Format(t.Lang, f.Path))
	for _, k := range f.DAG.Keys() {
		if run := f.DAG.Spec(k).Run; run != "" {
			fmt.Fprintf(t.Stderr, "  %s: %s\n", k, strings.ReplaceAll(visible(run), "\n", "\n      "))
		}
	}
	code := digest(hash(f.Source))
	answer, err := t.Ask(ctx, message.TrustAsk.Format(t.Lang, code), message.TrustNobody)
	if errors.As(err, new(message.Misuse)) {
		return message.WithHint(err, message.HintTrustNobody, f.Name)
	}
	if err != nil {
		return err
	}
	if answer != code {
		return message.Fail(message.TrustNo, f.Name)
	}
	// What was shown is what is trusted, though the file may have changed meanwhile.
	if err := Trust(root, f, t.Now()); err != nil {
		return err
	}
	return f.tellTrust(t, root, message.TrustDone, f.Path)
}

// byPerson refuses where an agent is among those who started this program, or has left
// its variables.
func (f File) byPerson(t *terminal.Terminal) error {
	started, err := t.Ancestors()
	if err != nil {
		return message.WithHint(message.Fail(message.TrustUnseen, err), message.HintTrustAgent, f.Name)
	}
	for _, p := range append(started, terminal.Process{Environ: t.Environ()}) {
		if agent := cmp.Or(host.AgentOf(p.Words), host.AgentIn(p.Environ)); agent != "" {
			return message.WithHint(message.Fail(message.TrustAgent, agent), message.HintTrustAgent, f.Name)
		}
	}
	return nil
}

// tellTrust tells how a file stands now.
func (f File) tellTrust(t *terminal.Terminal, root string, text message.Text, args ...any) error {
	if !t.JSON {
		t.Say(text, args...)
		return nil
	}
	return t.PrintObject("name", f.Name, "file", orNull(f.Path), "trusted", IsTrusted(root, f), "commands", f.commands())
}

// visible makes control characters seen: a command must not hide from whoever
// reads it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
