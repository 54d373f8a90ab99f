package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// repairs is what removing entries asks of those that refer to them.
type repairs struct {
	parents map[int32][]byte // child → its new parentUuid, raw
	leaves  map[key][]byte   // removed uuid → what a leaf note may name instead
	end     []byte           // where the session goes on, when its last message was removed
}

// repairs finds the new parents. A clone in which a child names a parent that is
// gone still opens, but the host then looks for another one near in time, and
// finds a wrong one.
func (s *Session) repairs(src io.ReaderAt, removed []int32) (repairs, error) {
	m := mender{
		s: s, src: src, gone: make(map[int32]bool, len(removed)), heirs: map[int32][]byte{},
		fix: repairs{parents: map[int32][]byte{}, leaves: map[key][]byte{}},
	}
	if len(removed) == 0 {
		return m.fix, nil
	}
	for _, i := range removed {
		if s.Entries[i].Has(Named) {
			return m.fix, fmt.Errorf("line %d was kept by a compaction and cannot be removed", s.Entries[i].Line)
		}
		m.gone[i] = true
	}
	steps := []func() error{m.reparent}
	if chained(s.Host) {
		// Later steps overrule earlier ones.
		steps = append(steps, m.renameLeaves, m.moveEnd, m.rethread)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return m.fix, err
		}
	}
	return m.fix, nil
}

type mender struct {
	s     *Session
	src   io.ReaderAt
	gone  map[int32]bool
	heirs map[int32][]byte // removed entry → the raw uuid that takes its place
	fix   repairs
}

// parent is what precedes an entry. In the live chain it is not the written
// parent that counts but what the host makes of it: after a compaction, and
// where a parent is lost.
func (m *mender) parent(i int32) int32 {
	if prev := m.s.live.prev; prev != nil && prev[i] != notInChain {
		return prev[i]
	}
	return m.s.Entries[i].Parent
}

// uuid is an entry's raw uuid, null for none.
func (m *mender) uuid(i int32) ([]byte, error) {
	if i < 0 {
		return []byte("null"), nil
	}
	entry, err := m.s.Raw(m.src, int(i))
	return bytes.Clone(field(entry, "uuid")), err
}

// heir is the raw value that takes the place of a removed entry's uuid: that of
// its nearest ancestor that stays. It is null where the chain ended: a child
// left with a lost parent of its own would make the host look for another one
// near in time. Long runs of removed entries share one walk.
func (m *mender) heir(i int32) ([]byte, error) {
	var trail []int32
	for i >= 0 && m.gone[i] && m.heirs[i] == nil {
		trail = append(trail, i)
		if i = m.parent(i); len(trail) > len(m.s.Entries) {
			i = noParent // a cycle of removed entries
		}
	}
	v := m.heirs[i]
	if v == nil {
		var err error
		if v, err = m.uuid(i); err != nil {
			return nil, err
		}
	}
	for _, t := range trail {
		m.heirs[t] = v
	}
	return v, nil
}

// reparent hangs the children of removed entries under their heirs.
func (m *mender) reparent() (err error) {
	tree := m.s.newWalk()
	for n := range m.s.Entries {
		i := int32(n)
		if m.gone[i] {
			continue
		}
		p := m.parent(i)
		// A parent that the host has guessed by time, as the written one is lost or a
		// compaction has pruned it, would be guessed anew among what stays.
		if m.gone[m.s.Entries[i].Parent] || m.gone[p] && tree.parent(i) != p {
			if m.fix.parents[i], err = m.heir(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// renameLeaves finds what the host's notes about removed messages name instead.
func (m *mender) renameLeaves() (err error) {
	for k, i := range m.s.nodes {
		if m.gone[i] {
			if m.fix.leaves[k], err = m.heir(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveEnd finds the last message that stays when the leaf goes.
func (m *mender) moveEnd() (err error) {
	live := &m.s.live
	if len(live.list) == 0 || !m.gone[live.end] {
		return nil
	}
	end := live.end
	for end >= 0 && (m.gone[end] || m.s.Entries[end].Kind != User && m.s.Entries[end].Kind != Assistant) {
		end = live.prev[end]
	}
	if end >= 0 {
		m.fix.end, err = m.uuid(end)
	}
	return err
}

// rethread puts entries into the chain that were live through their message
// only, when no part of that message is left in the chain to lead to them.
func (m *mender) rethread() error {
	live := &m.s.live
	held := map[int32]bool{} // messages that the chain still holds
	for _, i := range live.list {
		if _, joined := live.joined[i]; !joined && !m.gone[i] && m.s.Entries[i].Kind == Assistant {
			held[m.s.Entries[i].msg] = true
		}
	}
	prev, loose := int32(-1), false
	for _, i := range live.list {
		if m.gone[i] {
			continue
		}
		msg, joined := live.joined[i]
		if joined && held[msg] {
			continue // still found by its message
		}
		if joined || loose {
			v, err := m.uuid(prev)
			if err != nil {
				return err
			}
			m.fix.parents[i] = v
			loose = joined
		}
		prev = i
	}
	if !loose {
		return nil
	}
	v, err := m.uuid(prev)
	m.fix.end = v
	return err
}

// leaf points a note about a removed message to what remained of its chain.
func (f *repairs) leaf(entry []byte) []byte {
	id, ok := content(field(entry, "leafUuid"))
	if !ok {
		return entry
	}
	if v, ok := f.leaves[keyOf(id)]; ok && v[0] == '"' {
		return store.SetJSON(entry, "leafUuid", json.RawMessage(v))
	}
	return entry
}
