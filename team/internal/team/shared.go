package team

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Library is what the team has shared, on this machine: pushed sessions and the
// work of shared projects, decrypted, in folders like the hosts' own, with an index
// over each. All of it can be made again from the hub, for as long as the hub
// keeps it.
type Library struct {
	Hub  *Hub
	Root string // $OVERTONE_HOME
}

func (l Library) dir() string { return filepath.Join(folder(l.Root), "shared") }

// Update fetches what is new on the hub, and forgets what is gone. It returns how
// many sessions there are, and what could not be read.
func (l Library) Update(ctx context.Context) (n int, problems []error, err error) {
	f, err := l.Hub.Fleet(ctx)
	if err != nil {
		return 0, nil, err
	}
	keep := map[string]bool{}
	for _, b := range f.Beats {
		if !ValidMachine(b.Machine) {
			continue
		}
		list, err := l.Hub.objects(ctx, b.Machine)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		sessions := map[string]bool{}
		fetch := func(id string, info objectInfo, get func(context.Context, string, string, objectInfo) (string, error)) {
			path, err := get(ctx, b.Machine, id, info)
			if err != nil {
				problems = append(problems, err)
				return
			}
			keep[path], sessions[id] = true, true
		}
		for id, info := range newestBundles(list) {
			fetch(id, info, l.fetch)
		}
		for _, info := range list {
			if id, ok := strings.CutPrefix(info.Name, workName("")); ok && ValidToken(id) {
				fetch(id, info, l.fetchWork)
			}
		}
		n += len(sessions)
	}
	err = filepath.WalkDir(l.dir(), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Ext(path) == ".jsonl" && !keep[path] && len(problems) == 0 {
			os.Remove(path)
			os.Remove(path + ".digest")
		}
		return nil
	})
	return n, problems, err
}

// newestBundles are the objects of the last push of each session.
func newestBundles(list []objectInfo) map[string]objectInfo {
	newest, tokens := map[string]objectInfo{}, map[string]uint64{}
	for _, o := range list {
		parts := strings.Split(o.Name, "/")
		if len(parts) != 3 || parts[0] != "session" || !ValidToken(parts[1]) {
			continue
		}
		token, err := strconv.ParseUint(parts[2], 10, 64)
		if err == nil && token >= tokens[parts[1]] {
			newest[parts[1]], tokens[parts[1]] = o, token
		}
	}
	return newest
}

// fetch puts a session's file where an index finds it, unless it is there.
func (l Library) fetch(ctx context.Context, machine, id string, info objectInfo) (string, error) {
	base := filepath.Join(l.dir(), machine)
	// What is there is known by the digest beside it.
	found, _ := filepath.Glob(filepath.Join(base, "*", "*", "*", "*"+id+".jsonl"))
	deep, _ := filepath.Glob(filepath.Join(base, "*", "*", "*", "*", "*", "*"+id+".jsonl"))
	for _, path := range append(found, deep...) {
		if digest, err := os.ReadFile(path + ".digest"); err == nil && string(digest) == info.Digest {
			return path, nil
		}
	}
	tmp, err := newIncoming(base)
	if err != nil {
		return "", err
	}
	defer tmp.remove()
	var man Manifest
	err = l.Hub.readObject(ctx, info, func(r io.Reader) error {
		man, _, err = readBundle(r, tmp)
		return err
	})
	h, known := host.Named(string(man.Host))
	switch {
	case err != nil:
		return "", err
	case !known || man.Session != id || man.Machine != machine || filepath.Base(man.File) != man.File || !h.Sessions.Match(man.File):
		return "", fmt.Errorf("object %s of %s is not what it says", info.Name, machine)
	}
	path := h.SessionPath(l.hostDir(machine, h), man.Folder, man.File)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := errors.Join(tmp.Close(), os.Rename(tmp.Name(), path)); err != nil {
		return "", err
	}
	return path, store.LooseWrite(path+".digest", []byte(info.Digest), 0o600)
}

// fetchWork puts where a session's work stands in a file of its own, as a session
// whose messages are its packet, its reports and its workflow.
func (l Library) fetchWork(ctx context.Context, machine, id string, info objectInfo) (string, error) {
	h := host.Of(host.ClaudeCode) // as an index reads it; the session may be of any host
	path := h.SessionPath(filepath.Join(l.workDir(machine), string(h.Name)), "/"+machine, h.Sessions.Prefix+id+".jsonl")
	if digest, err := os.ReadFile(path + ".digest"); err == nil && string(digest) == info.Digest {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	w, err := l.Hub.readWork(ctx, info)
	if err != nil {
		return "", err
	}
	if w.Manifest.Session != id || w.Manifest.Machine != machine {
		return "", fmt.Errorf("object %s of %s is not what it says", info.Name, machine)
	}
	var b bytes.Buffer
	add := func(name, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		line := store.EncodeJSON(map[string]any{
			"type": "assistant", "uuid": name, "sessionId": id, "cwd": w.Folder, "timestamp": w.At.UTC().Format(time.RFC3339Nano),
			"message": map[string]any{"role": "assistant", "content": []map[string]string{{"type": "text", "text": text}}},
		})
		b.Write(append(line, '\n'))
	}
	add("packet", w.Packet)
	for _, name := range slices.Sorted(maps.Keys(w.Reports)) {
		add(strings.TrimSuffix(strings.ReplaceAll(name, "--", "-"), ".md"), string(w.Reports[name]))
	}
	add("workflow", string(w.Workflow))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := store.LooseWrite(path, b.Bytes(), 0o600); err != nil {
		return "", err
	}
	return path, store.LooseWrite(path+".digest", []byte(info.Digest), 0o600)
}

func (l Library) workDir(machine string) string { return filepath.Join(l.dir(), machine, "work") }

func (l Library) hostDir(machine string, h *host.Host) string {
	return filepath.Join(l.dir(), machine, string(h.Name))
}

// Found is what a search found on one machine: in a conversation, or in where the
// work of a session stands.
type Found struct {
	Machine string `json:"machine"`
	Work    bool   `json:"work"`
	recall.Hit
}

// Search asks for what was shared; machine "" asks for all.
func (l Library) Search(ctx context.Context, q recall.Query, machine string) (list []Found, total int, err error) {
	entries, err := os.ReadDir(l.dir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if !e.IsDir() || !ValidMachine(e.Name()) || machine != "" && machine != e.Name() {
			continue
		}
		for _, work := range []bool{false, true} {
			res, err := l.index(e.Name(), work).Search(ctx, q)
			if err != nil {
				return nil, 0, err
			}
			total += res.Total
			for _, hit := range res.Hits {
				if work {
					_, hit.Role, _ = strings.Cut(hit.Ref, "#")
				}
				list = append(list, Found{e.Name(), work, hit})
			}
		}
	}
	return list, total, nil
}

func (l Library) index(machine string, work bool) *recall.Index {
	o := recall.Options{Root: filepath.Join(l.dir(), machine), Dir: func(h *host.Host) string { return l.hostDir(machine, h) }}
	if work {
		o.Root = l.workDir(machine)
		o.Dir = func(h *host.Host) string { return filepath.Join(o.Root, string(h.Name)) }
	}
	return recall.Open(o)
}
