package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

// Names of the files in the Claude folder. Agents are told the paths, so the
// names are part of the contract.
const (
	contextPrefix    = "pipeline-context-"
	reflectionPrefix = "reflection-memory-"
	barrierPrefix    = "barrier-state-"
	legacyPrefix     = "pipeline-state-"
)

// IsState reports whether a file of the Claude folder holds a state of ours, which no
// agent writes; reports are theirs.
func IsState(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, reflectionPrefix) || strings.HasPrefix(name, barrierPrefix) || strings.HasPrefix(name, legacyPrefix)
}

// maxContext bounds the report of an agent.
const maxContext = 1 << 20

// errContextFile reports a path that is not one of the session's context files.
var errContextFile = errors.New("not a context file of this session")

// ContextName is the file name of the report of a session's stage.
func ContextName(session, stage string) string {
	return contextPrefix + session + "-" + stageName(stage) + ".md"
}

// ReflectionName is the file name of what is remembered of a stage's failures.
func ReflectionName(session, stage string) string {
	return reflectionPrefix + session + "-" + stageName(stage) + ".md"
}

// ContextPath is where the report of a stage lies.
func (s *Session) ContextPath(stage string) string { return s.claudePath(ContextName(s.id, stage)) }

func (s *Session) reflectionPath(stage string) string {
	return s.claudePath(ReflectionName(s.id, stage))
}

func (s *Session) barrierPath() string { return s.claudePath(barrierPrefix + s.id + ".json") }

// legacyStatePath is where an earlier version kept the state.
func (s *Session) legacyStatePath() string { return s.claudePath(legacyPrefix + s.id + ".json") }

func (s *Session) claudePath(name string) string { return filepath.Join(s.home.claude, name) }

// stageName makes a stage key fit for a file name on every system: TEST:2 is
// TEST-2. Other characters that a key of the catalogue never has become "_",
// so no key leads out of the folder.
func stageName(stage string) string {
	const longest = 64 // with prefix, id and .md.tmp this stays under 255
	stage = stage[:min(len(stage), longest)]
	return strings.Map(func(r rune) rune {
		switch {
		case r == ':':
			return '-'
		case r < 0x80 && plainByte(byte(r)):
			return r
		}
		return '_'
	}, stage)
}

// ResolveContext turns the path of a context file, as an agent gave it, into
// the path we use. It accepts only files of this session's pattern directly in
// the Claude folder, written as an absolute path or with a leading ~/.claude/;
// anything else is [errContextFile]. The file need not exist.
func (s *Session) ResolveContext(path string) (string, error) {
	refused := fmt.Errorf("%w: %q", errContextFile, path)
	dir, name := filepath.Split(filepath.FromSlash(path))
	stage, ok := strings.CutPrefix(name, contextPrefix+s.id+"-")
	stage, ok2 := strings.CutSuffix(stage, ".md")
	if !ok || !ok2 || stage == "" || !plainBytes(stage) {
		return "", refused
	}
	dir = filepath.Clean(dir)
	if dir != filepath.Join("~", ".claude") && dir != s.home.claude && !sameDir(dir, s.home.claude) {
		return "", refused
	}
	return s.claudePath(name), nil
}

// sameDir recognises the Claude folder under another name, such as the target
// of the link that it is.
func sameDir(a, b string) bool {
	if !filepath.IsAbs(a) {
		return false
	}
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// ReadContext returns the report at a path that an agent gave; see
// [Session.ResolveContext]. A report over 1 MiB is an error.
func (tx *Tx) ReadContext(path string) ([]byte, error) {
	resolved, err := tx.s.ResolveContext(path)
	if err != nil {
		return nil, err
	}
	return readFile(resolved, maxContext)
}

// WriteContext replaces the report of a stage.
func (tx *Tx) WriteContext(stage string, data []byte) error {
	return tx.writeText(tx.s.ContextPath(stage), data)
}

// RemoveContext deletes the report of a stage, if there is one.
func (tx *Tx) RemoveContext(stage string) error { return remove(tx.s.ContextPath(stage)) }

// Reflection returns the remembered rounds of a stage; none is [fs.ErrNotExist].
func (tx *Tx) Reflection(stage string) ([]byte, error) {
	return tx.s.home.readDerived(tx.s.reflectionPath(stage), maxContext)
}

// WriteReflection replaces the remembered rounds of a stage.
func (tx *Tx) WriteReflection(stage string, data []byte) error {
	return tx.writeText(tx.s.reflectionPath(stage), data)
}

// RemoveReflection deletes the remembered rounds of a stage, if there are any.
func (tx *Tx) RemoveReflection(stage string) error {
	return remove(tx.s.reflectionPath(stage))
}

// Barrier returns the barrier state; none is [fs.ErrNotExist].
func (tx *Tx) Barrier() ([]byte, error) { return tx.s.home.readDerived(tx.s.barrierPath(), maxFile) }

// WriteBarrier replaces the barrier state. It can be derived from the workflow
// state, so it is not flushed.
func (tx *Tx) WriteBarrier(data []byte) error {
	return tx.writeClaude(tx.s.barrierPath(), redact.JSON(data, nil))
}

// LegacyState returns the state that an earlier version left; none is
// [fs.ErrNotExist]. It is never written or removed, so it needs no lock.
func (s *Session) LegacyState() ([]byte, error) { return readFile(s.legacyStatePath(), maxFile) }

// writeText writes what agents have said. More than could be read again is cut.
func (tx *Tx) writeText(path string, data []byte) error {
	text := redact.Start(string(data), maxContext)
	if len(text) > maxContext {
		text = strings.ToValidUTF8(text[:maxContext], "")
	}
	return tx.writeClaude(path, []byte(text))
}

func (tx *Tx) writeClaude(path string, data []byte) error {
	err := tx.s.home.writeDerived(path, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(tx.s.home.claude, dirPerm); err == nil {
			err = tx.s.home.writeDerived(path, data)
		}
	}
	return err
}
