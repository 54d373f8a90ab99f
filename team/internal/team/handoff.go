package team

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Mover moves sessions between machines.
type Mover struct {
	Home     *store.Home
	Set      Settings
	Hub      *Hub
	Dir      func(*host.Host) string
	Settings compact.Settings
	Lang     message.Lang
	Now      func() time.Time
	// Environ is what git is run with.
	Environ []string
}

// Manifest is what travels with a session; the hub cannot read it.
type Manifest struct {
	Schema  int       `json:"schema"`
	Session string    `json:"session"`
	Host    host.Name `json:"host"`
	Machine string    `json:"machine"`
	Token   uint64    `json:"token"`
	At      time.Time `json:"at"`
	Folder  string    `json:"folder"`
	File    string    `json:"file"` // the name of the session's file
	Git     Git       `json:"git"`
	Packet  string    `json:"packet"`
}

// Git is where a working folder stands.
type Git struct {
	Commit string `json:"commit,omitempty"` // "" outside of a repository
	Branch string `json:"branch,omitempty"`
	Dirty  int    `json:"dirty,omitempty"` // files that are not committed
}

// Pushed is what became of a push.
type Pushed struct {
	Manifest Manifest
	Bytes    int64 // of the session's file
	Lease    Lease
}

// maxBundle bounds what is moved: of a larger session, a compressed clone.
const maxBundle = 512 << 20

// Push offers a session to the other machines. From then on it does not go on
// here: its hooks say so, until it is pulled back.
func (m *Mover) Push(ctx context.Context, ref string, force bool) (Pushed, error) {
	var out Pushed
	file, err := transcript.Resolve(ref, m.Dir)
	if err != nil {
		return out, err
	}
	// A clone takes the state of its source along.
	source := cmp.Or(compress.Clones(filepath.Join(m.Home.Root(), "clones")).All()[file.ID].Source, file.ID)
	sess, err := m.Home.Session(file.ID)
	if err != nil {
		return out, err
	}
	from, err := m.Home.Session(source)
	if err != nil {
		return out, err
	}
	folder := transcript.FirstCWD(file.Path)
	if !m.Set.shares(folder) {
		return out, message.WithHint(message.Fail(message.TeamNotShared, folder), message.HintTeamNotShared, folder)
	}
	if file.Size > maxBundle {
		return out, message.WithHint(message.Fail(message.TeamTooLarge, message.Bytes(file.Size)), message.HintTeamTooLarge, file.ID)
	}
	before := session.ReadMoved(sess)
	if err := m.mayOffer(ctx, file.ID, before); err != nil {
		return out, err
	}
	lease, err := m.Hub.take(ctx, file.ID, phaseTaking, takingFor, m.Now)
	if err != nil {
		return out, err
	}
	git, err := m.git(ctx, folder)
	if err != nil {
		return out, err
	}
	parcel, err := session.Pack(from)
	if err != nil {
		return out, err
	}
	out.Manifest = Manifest{
		Schema: 1, Session: file.ID, Host: file.Host, Machine: m.Set.Machine, Token: lease.Token, At: m.Now().UTC(),
		Folder: folder, File: filepath.Base(file.Path), Git: git, Packet: packetNow(from, m.Settings, m.Lang, m.Now()),
	}
	out.Bytes = file.Size
	upload := func(w io.Writer) error { return writeBundle(w, out.Manifest, file.Path, file.Size, parcel) }
	if err := m.Hub.putObject(ctx, bundleName(file.ID, lease.Token), upload); err != nil {
		return out, err
	}
	// What is offered must not go on here: first our own hooks, then the others. Who
	// interrupts here would leave it offered to nobody.
	if err := ctx.Err(); err != nil {
		return out, err
	}
	ctx = context.WithoutCancel(ctx)
	mark := lease
	mark.Phase = phaseOffered
	if err := writeMoved(sess, m.Set.Machine, mark, m.Now()); err != nil {
		return out, err
	}
	restore := func() {
		if before != nil {
			_ = session.WriteMoved(sess, *before)
		} else {
			_ = session.ForgetMoved(sess)
		}
	}
	if info, err := os.Stat(file.Path); !force && (err != nil || info.Size() != file.Size) {
		restore()
		return out, message.WithHint(message.Fail(message.TeamAtWork, file.ID), message.HintTeamAtWork)
	}
	err = m.Hub.announce(ctx, bundle{Session: file.ID, Machine: m.Set.Machine, Token: lease.Token})
	if err == nil {
		out.Lease, err = m.Hub.renew(ctx, lease, phaseOffered, offeredFor, m.Now)
	}
	if err != nil {
		if errors.Is(err, errLeaseLost) {
			restore()
		}
		return out, err
	}
	if err := writeMoved(sess, m.Set.Machine, out.Lease, m.Now()); err != nil {
		return out, err
	}
	if source != file.ID {
		// Who goes on with the source would go on with the same work.
		if err := writeMoved(from, m.Set.Machine, out.Lease, m.Now()); err != nil {
			return out, err
		}
	}
	return out, from.Record(store.On(message.EventSessionMoved, "from", m.Set.Machine, "token", lease.Token))
}

// mayOffer refuses what went on elsewhere since it was here, by what this machine
// knows or by what the hub does: either may have forgotten. A pull comes first.
func (m *Mover) mayOffer(ctx context.Context, id string, before *session.Moved) error {
	if before == nil || before.Machine != m.Set.Machine {
		return nil
	}
	holder, until := before.Holder, before.Expires
	if holder == m.Set.Machine {
		b, _, err := m.Hub.bundle(ctx, id)
		if err != nil || b.Held <= before.Token || b.Holder == m.Set.Machine {
			return err
		}
		holder = b.Holder
	}
	leased := message.Fail(message.TeamLeased, id, holder, until.Local().Format(time.DateTime))
	return message.WithHint(leased, message.HintTeamWentOn, holder, id)
}

func bundleName(id string, token uint64) string { return fmt.Sprintf("session/%s/%d", id, token) }

// git tells where a folder stands.
func (m *Mover) git(ctx context.Context, dir string) (Git, error) {
	var g Git
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(slices.Clip(m.Environ), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := run("rev-parse", "--verify", "-q", "HEAD")
	if err != nil || commit == "" {
		return g, ctx.Err() // no repository, no commit, or no git
	}
	g.Commit = commit
	if g.Branch, err = run("rev-parse", "--abbrev-ref", "HEAD"); err != nil {
		return g, err
	}
	changed, err := run("status", "--porcelain")
	if err != nil {
		return g, err
	}
	if changed != "" {
		g.Dirty = strings.Count(changed, "\n") + 1
	}
	return g, nil
}

// writeBundle writes a session as one stream: the manifest first, then its state,
// then its file (path "" for none), without secrets.
func writeBundle(w io.Writer, man Manifest, path string, size int64, p session.Parcel) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	add := func(name string, data []byte) error {
		if data == nil {
			return nil
		}
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: man.At}); err != nil {
			return err
		}
		_, err := out.Write(data)
		return err
	}
	err := errors.Join(add("manifest.json", store.EncodeJSON(man)),
		add("workflow.json", cleanJSON(p.Workflow)), add("memory.json", cleanJSON(p.Memory)))
	if err != nil {
		return err
	}
	for name, data := range p.Reports {
		text := []byte(redact.Clean(string(data)))
		if strings.HasSuffix(name, ".json") {
			text = cleanJSON(data)
		}
		if err := add("report/"+name, text); err != nil {
			return err
		}
	}
	// A tar needs sizes ahead, and redaction changes them: the file goes in parts.
	if path != "" {
		err = eachLine(path, size, func(part []byte) error { return add("transcript", part) })
	}
	return errors.Join(err, out.Close(), zip.Close())
}

func cleanJSON(data []byte) []byte {
	if data == nil || !store.ValidJSON(data) {
		return nil
	}
	return transcript.MapStrings(data, redact.Clean)
}

// eachLine hands the lines of a session's file on without secrets, some at a time.
func eachLine(path string, size int64, fn func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, size), 1<<20)
	var part []byte
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		// A line without its end is still being written.
		if len(line) > 0 && line[len(line)-1] == '\n' {
			part = append(part, cleanLine(line)...)
		}
		if len(part) > 1<<20 || errors.Is(err, io.EOF) {
			if len(part) > 0 {
				if err := fn(part); err != nil {
					return err
				}
			}
			part = part[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// cleanLine takes the secrets out of a line of a session's file. A thought is
// signed, and a model's server refuses one that was changed: where it holds a
// secret, a note stands in its place.
func cleanLine(line []byte) []byte {
	body := bytes.TrimRight(line, "\r\n")
	if !store.ValidJSON(body) {
		return nil // nobody knows what it holds, and hosts pass it over
	}
	entry, _ := transcript.EditBlocks(body, func(b transcript.Block) []byte {
		if b.Type != "thinking" || bytes.Equal(transcript.MapStrings(b.Raw, cleanField), b.Raw) {
			return b.Raw
		}
		return store.EncodeJSON(map[string]string{"type": "text", "text": "[REDACTED:thinking]"})
	})
	return append(transcript.MapStrings(entry, cleanField), '\n')
}

// cleanField leaves alone what is no text: pictures and signatures are long and
// have no spaces.
func cleanField(s string) string {
	if len(s) > 4096 && !strings.ContainsAny(s, " \n\t") {
		return s
	}
	return redact.Clean(s)
}

// Pulled is what became of a pull.
type Pulled struct {
	Manifest Manifest
	Folder   string // here
	Path     string // the session's file here
	Backup   string // what was there before; "" for nothing
	Resume   string // the command that goes on
	Lease    Lease
	Here     Git
	Back     bool // it had not left: the offer was taken back
	// Last is the machine that had the session after it was pushed, and did not hand it
	// over; "" for none.
	Last string
}

// errGit is the error of a folder that stands elsewhere than the session's.
var errGit = errors.New("another commit")

// PullOptions say how.
type PullOptions struct {
	Folder string // where to go on; "" for the same path, else the current folder
	Cwd    string // the current folder
	Anyway bool   // although the folder stands at another commit
}

// Pull takes a session over: it goes on here, and nowhere else. The id may be the
// beginning of one.
func (m *Mover) Pull(ctx context.Context, id string, o PullOptions) (Pulled, error) {
	var out Pulled
	if !ValidToken(id) {
		return out, message.WithHint(message.Fail(message.TeamNotOffered, id), message.HintTeamNotOffered)
	}
	if found, err := m.Hub.offered(ctx, id); err != nil {
		return out, err
	} else if found != "" {
		id = found
	}
	sess, err := m.Home.Session(id)
	if err != nil {
		return out, err
	}
	cur, err := m.Hub.lease(ctx, id)
	if err != nil {
		return out, err
	}
	bundle, _, err := m.Hub.bundle(ctx, id)
	if err != nil {
		return out, err
	}
	// What is here already is not fetched: what was pushed is older than what was
	// done here since, or it is the same.
	if went := session.ReadMoved(sess); bundle.Machine == m.Set.Machine || bundle.lastAt(went, m.Set.Machine) {
		free := m.Hub.free(cur)
		// A hub that was made anew does not know who took what we had offered.
		forgot := false
		if bundle.Token == 0 && went != nil && went.Phase == string(phaseOffered) {
			if forgot, err = m.Hub.forgot(ctx, went.Token); err != nil {
				return out, err
			}
		}
		if free && (!forgot || o.Anyway) {
			back, err := m.takeBack(ctx, sess, o)
			if err != nil || back.Back {
				return back, err
			}
		}
	}
	if bundle.Token == 0 {
		return out, message.WithHint(message.Fail(message.TeamNotOffered, id), message.HintTeamNotOffered)
	}
	lease, err := m.Hub.take(ctx, id, phaseTaking, takingFor, m.Now)
	if err != nil {
		return out, err
	}
	// What was pushed before the lease was ours is the newest there is.
	if bundle, _, err = m.Hub.bundle(ctx, id); err != nil {
		return out, err
	}
	if bundle.Held > bundle.Token && bundle.Holder != m.Set.Machine {
		out.Last = bundle.Holder
	}
	// Whatever goes wrong until the session is ours, others may have it at once.
	offerAgain := func(err error) (Pulled, error) {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
		defer cancel()
		_, _ = m.Hub.renew(undo, lease, phaseOffered, offeredFor, m.Now)
		return out, err
	}
	info, ok, err := m.Hub.object(ctx, bundle.Machine, bundleName(id, bundle.Token))
	if err != nil {
		return offerAgain(err)
	}
	if !ok {
		return offerAgain(message.WithHint(message.Fail(message.TeamNotOffered, id), message.HintTeamNotOffered))
	}
	tmp, err := newIncoming(folder(m.Home.Root()))
	if err != nil {
		return offerAgain(err)
	}
	defer tmp.remove()
	var parcel session.Parcel
	err = m.Hub.readObject(ctx, info, func(r io.Reader) error {
		out.Manifest, parcel, err = readBundle(r, tmp)
		return err
	})
	man := &out.Manifest
	if err == nil && (man.Session != id || man.Machine != bundle.Machine || man.Token != bundle.Token) {
		err = fmt.Errorf("what %s pushed is not session %s", bundle.Machine, id)
	}
	h, known := host.Named(string(man.Host))
	if err == nil && (!known || filepath.Base(man.File) != man.File || !h.Sessions.Match(man.File) || !strings.Contains(man.File, id)) {
		err = fmt.Errorf("what %s pushed is of no host that is known here", bundle.Machine)
	}
	if err != nil {
		return offerAgain(err)
	}
	if out.Folder, err = m.folder(*man, o); err != nil {
		return offerAgain(err)
	}
	if out.Here, err = m.git(ctx, out.Folder); err != nil {
		return offerAgain(err)
	}
	if man.Git.Commit != "" && out.Here.Commit != man.Git.Commit && !o.Anyway {
		err := fmt.Errorf("%w: %w", errGit, message.Fail(message.TeamCommit, man.Machine, short(man.Git.Commit), man.Git.Branch, out.Folder, short(cmp.Or(out.Here.Commit, "-"))))
		return offerAgain(message.WithHint(err, message.HintTeamCommit, out.Folder, man.Git.Commit))
	}
	out.Path = h.SessionPath(m.Dir(h), out.Folder, man.File)
	placed, err := m.place(tmp, out.Path, man.Folder, out.Folder)
	if err != nil {
		return offerAgain(err)
	}
	// The one step that decides: from here on the session is ours, or this fails
	// and nothing was changed. It is done to its end, whoever interrupts.
	if err := ctx.Err(); err != nil {
		return offerAgain(err)
	}
	ctx = context.WithoutCancel(ctx)
	if out.Lease, err = m.Hub.renew(ctx, lease, phaseHeld, heldFor, m.Now); err != nil {
		return out, err
	}
	_ = m.Hub.holds(ctx, out.Lease) // without it a lease that ends is taken anew by hand
	if out.Backup, err = m.putInPlace(placed, out.Path); err != nil {
		return out, err
	}
	note := man.Packet
	moved := message.TeamMovedNote.Format(m.Lang, man.Machine, m.Set.Machine)
	if out.Folder != man.Folder {
		moved += " " + message.MovedFolder.Format(m.Lang, man.Folder, out.Folder)
	}
	if man.Git.Dirty > 0 {
		moved += " " + message.TeamMovedDirty.Format(m.Lang, man.Git.Dirty)
	}
	note = strings.TrimSpace(moved + "\n\n" + note)
	event := store.On(message.EventSessionMoved, "from", man.Machine, "to", m.Set.Machine, "token", out.Lease.Token)
	if err := session.Unpack(sess, parcel, session.Options{Now: m.Now().UTC(), Lang: m.Lang}, out.Path, note, event); err != nil {
		return out, err
	}
	if err := writeMoved(sess, m.Set.Machine, out.Lease, m.Now()); err != nil {
		return out, err
	}
	out.Resume = h.Resume(id)
	return out, nil
}

// lastAt reports whether a session was at this machine last, as far as the machine
// and the hub know: nobody had it since.
func (b bundle) lastAt(m *session.Moved, machine string) bool {
	return m != nil && m.Machine == machine && m.Holder == machine && b.Token <= m.Token && b.Held <= m.Token
}

// takeBack goes on with what is here: of an offer that nobody has taken, or of a
// session that is here already. Back is false where it is wanted in another
// folder, and can be fetched there.
func (m *Mover) takeBack(ctx context.Context, sess *store.Session, o PullOptions) (Pulled, error) {
	var out Pulled
	file, err := transcript.Resolve(sess.ID(), m.Dir)
	if err != nil {
		return out, err
	}
	here := transcript.FirstCWD(file.Path)
	if o.Folder != "" {
		want, err := m.folder(Manifest{}, o)
		if err != nil {
			return out, err
		}
		if went := session.ReadMoved(sess); want != here && went != nil && went.Phase == string(phaseHeld) {
			return out, message.WithHint(message.Fail(message.TeamHere, sess.ID(), here), message.HintTeamHere, sess.ID())
		} else if want != here {
			return out, nil
		}
	}
	if out.Lease, err = m.Hub.take(ctx, sess.ID(), phaseHeld, heldFor, m.Now); err != nil {
		return out, err
	}
	out.Back = true
	_ = m.Hub.holds(ctx, out.Lease)
	if err := writeMoved(sess, m.Set.Machine, out.Lease, m.Now()); err != nil {
		return out, err
	}
	out.Path, out.Folder, out.Resume = file.Path, here, host.Of(file.Host).Resume(sess.ID())
	out.Manifest = Manifest{Session: sess.ID(), Host: file.Host, Machine: m.Set.Machine, Folder: out.Folder}
	return out, nil
}

// readBundle takes apart what [writeBundle] made; the session's file goes to w.
func readBundle(r io.Reader, w io.Writer) (man Manifest, p session.Parcel, err error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return man, p, err
	}
	p.Reports = map[string][]byte{}
	in := tar.NewReader(zip)
	total := int64(0)
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return man, p, err
		}
		if total += head.Size; total > 2*maxBundle {
			return man, p, errors.New("too large")
		}
		if head.Name == "transcript" {
			if _, err := io.Copy(w, in); err != nil {
				return man, p, err
			}
			continue
		}
		if head.Size > 32<<20 {
			return man, p, errors.New("too large")
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return man, p, err
		}
		switch name, report := strings.CutPrefix(head.Name, "report/"); {
		case report:
			p.Reports[name] = data
		case head.Name == "manifest.json":
			if err := json.Unmarshal(data, &man); err != nil {
				return man, p, err
			}
			if man.Schema > 1 {
				return man, p, fmt.Errorf("written by a newer version (schema %d)", man.Schema)
			}
		case head.Name == "workflow.json":
			p.Workflow = data
		case head.Name == "memory.json":
			p.Memory = data
		}
	}
	return man, p, nil
}

// folder is where the session goes on here.
func (m *Mover) folder(man Manifest, o PullOptions) (string, error) {
	isDir := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	dir := o.Folder
	switch {
	case dir != "":
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Cwd, dir)
		}
		if !isDir(dir) {
			return "", message.Fail(message.TeamNoFolder, dir)
		}
	case isDir(man.Folder):
		dir = man.Folder
	case filepath.Base(o.Cwd) == filepath.Base(man.Folder):
		dir = o.Cwd
	default:
		return "", message.WithHint(message.Fail(message.TeamNoFolder, man.Folder), message.HintTeamFolder)
	}
	// Hosts know folders by their real path.
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Clean(real), nil
}

// place writes the session's file beside where it is to be, with the folder that
// it goes on in.
func (m *Mover) place(src *incoming, path, from, to string) (string, error) {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	tmp, err := src.beside(path)
	if err != nil {
		return "", err
	}
	defer tmp.Close()
	w := bufio.NewWriterSize(tmp, 1<<20)
	r := bufio.NewReaderSize(src, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return tmp.Name(), err
		}
		if _, werr := w.Write(mapFolder(line, from, to)); werr != nil {
			return tmp.Name(), werr
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	return tmp.Name(), errors.Join(w.Flush(), tmp.Sync())
}

// mapFolder makes the folders that a line names as its own those of this machine.
// What was said about folders stays as it was said.
func mapFolder(line []byte, from, to string) []byte {
	if from == to || from == "" || !bytes.Contains(line, []byte(`"cwd"`)) {
		return line
	}
	body := bytes.TrimRight(line, "\r\n")
	out := transcript.MapField(body, "cwd", func(raw []byte) []byte {
		v := gjson.ParseBytes(raw)
		rel, err := filepath.Rel(from, v.Str)
		if v.Type != gjson.String || err != nil || !filepath.IsLocal(rel) {
			return raw
		}
		return store.EncodeJSON(filepath.Join(to, rel))
	})
	return append(bytes.Clone(out), line[len(body):]...)
}

// putInPlace gives the session's file its name. One that is there already, of the
// time before the session left, is kept aside.
func (m *Mover) putInPlace(tmp, path string) (backup string, err error) {
	if _, err := os.Lstat(path); err == nil {
		dir := filepath.Join(folder(m.Home.Root()), "before")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		backup = filepath.Join(dir, m.Now().UTC().Format("20060102-150405.000")+"-"+filepath.Base(path))
		if err := os.Link(path, backup); err != nil {
			data, rerr := os.ReadFile(path)
			if rerr != nil {
				return "", rerr
			}
			if err := store.AtomicWrite(backup, data, 0o600); err != nil {
				return "", err
			}
		}
	}
	return backup, os.Rename(tmp, path)
}

func short(commit string) string { return commit[:min(10, len(commit))] }
