package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// naive reads a file the obvious way, with encoding/json and maps, sharing no
// code with the package: the oracle for counts.
type naive struct {
	lines, bad, turns, allTurns, compactions int
	tokens                                   float64
	live                                     []int // line numbers
}

type object = map[string]any

func (n *naive) objects(t testing.TB, path string) (objs []object, lineOf []int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	rows := bytes.Split(data, []byte("\n"))
	if len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	n.lines = len(rows)
	for i, row := range rows {
		if len(bytes.TrimSpace(row)) == 0 {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(row))
		for {
			var o object
			err := dec.Decode(&o)
			if err != nil {
				if err.Error() != "EOF" {
					n.bad++
				}
				break
			}
			objs = append(objs, o)
			lineOf = append(lineOf, i+1)
		}
	}
	return objs, lineOf
}

func strOf(o object, k string) string { s, _ := o[k].(string); return s }
func yes(o object, k string) bool     { b, _ := o[k].(bool); return b }
func sub(o object, k string) object   { m, _ := o[k].(object); return m }

func blocks(o object) []object {
	list, _ := sub(o, "message")["content"].([]any)
	var out []object
	for _, b := range list {
		if m, ok := b.(object); ok {
			out = append(out, m)
		}
	}
	return out
}

func startsTurn(o object) bool {
	if strOf(o, "type") != "user" || yes(o, "isMeta") {
		return false
	}
	if _, ok := sub(o, "message")["content"].(string); ok {
		return true
	}
	text, result := false, false
	for _, b := range blocks(o) {
		text = text || strOf(b, "type") == "text"
		result = result || strOf(b, "type") == "tool_result"
	}
	return text && !result
}

func millis(o object) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, strOf(o, "timestamp"))
	return t.UnixMilli(), err == nil
}

func readNaiveClaude(t testing.TB, path string) naive {
	var n naive
	objs, lineOf := n.objects(t, path)
	nodes := map[string]object{}
	pos := map[string]int{}
	var order []string
	bridge := map[string]string{}
	var last, noted string
	var explicit, bounded bool
	for i, o := range objs {
		if startsTurn(o) {
			n.allTurns++
		}
		id := strOf(o, "uuid")
		typ := strOf(o, "type")
		main := !yes(o, "isSidechain")
		switch typ {
		case "progress":
			p := strOf(o, "parentUuid")
			if b, ok := bridge[p]; ok {
				p = b
			}
			bridge[id] = p
			continue
		case "last-prompt":
			if l := strOf(o, "leafUuid"); l != "" {
				explicit = yes(o, "explicit") || explicit && l == noted
				noted = l
			}
		}
		boundary, summary := main && typ == "system" && strOf(o, "subtype") == "compact_boundary", main && typ == "user" && yes(o, "isCompactSummary")
		if boundary || summary && o["parentUuid"] == nil && !bounded {
			n.compactions++
			n.tokens = 0
		}
		bounded = (bounded || boundary) && !summary
		if u := sub(sub(o, "message"), "usage"); u != nil && typ == "assistant" && main && !yes(o, "isApiErrorMessage") && strOf(sub(o, "message"), "model") != "<synthetic>" {
			sum := 0.0
			for _, k := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"} {
				v, _ := u[k].(float64)
				sum += v
			}
			if sum > 0 {
				n.tokens = sum
			}
		}
		if id == "" || typ != "user" && typ != "assistant" && typ != "attachment" && typ != "system" {
			continue
		}
		if b, ok := bridge[strOf(o, "parentUuid")]; ok {
			o["parentUuid"] = b
		}
		if _, ok := nodes[id]; !ok {
			order = append(order, id)
		}
		nodes[id], pos[id] = o, lineOf[i]
		if main {
			last, explicit = id, false
		}
		if strOf(o, "subtype") == "compact_boundary" {
			noted = ""
		}
	}
	relinked := n.relink(nodes, order)
	isMsg := func(o object) bool { return strOf(o, "type") == "user" || strOf(o, "type") == "assistant" }
	leaf := last
	if _, ok := nodes[noted]; ok && !explicit {
		found := false
		for id, seen := last, map[string]bool{}; id != "" && !seen[id]; id = strOf(nodes[id], "parentUuid") {
			seen[id] = true
			found = found || id == noted
		}
		for _, c := range nodes {
			found = found || relinked && strOf(c, "parentUuid") == noted && isMsg(c)
		}
		if !found {
			leaf = noted
		}
	} else if ok {
		leaf = noted
	}
	message := func(id string) string {
		for id != "" && !isMsg(nodes[id]) {
			id = strOf(nodes[id], "parentUuid")
		}
		return id
	}
	if message(leaf) == "" {
		leaf = last
	}
	leaf = message(leaf)
	seen := map[string]bool{}
	var chain []string
	for id := leaf; id != ""; {
		seen[id] = true
		chain = append([]string{id}, chain...)
		p := strOf(nodes[id], "parentUuid")
		if _, ok := nodes[p]; p != "" && (!ok || seen[p]) {
			p = ""
			best := int64(5001)
			at, ok := millis(nodes[id])
			for _, c := range order {
				when, ok2 := millis(nodes[c])
				if nodes[c] == nil || seen[c] || !ok || !ok2 || yes(nodes[c], "isSidechain") != yes(nodes[id], "isSidechain") {
					continue
				}
				if d := at - when; d >= 0 && d < best {
					best, p = d, c
				}
			}
		}
		id = p
	}
	msgs := map[string]bool{}
	for _, id := range chain {
		if m := strOf(sub(nodes[id], "message"), "id"); m != "" && strOf(nodes[id], "type") == "assistant" {
			msgs[m] = true
		}
	}
	var parts []string
	for _, id := range order {
		if o := nodes[id]; o != nil && strOf(o, "type") == "assistant" && msgs[strOf(sub(o, "message"), "id")] {
			parts = append(parts, id)
			seen[id] = true
		}
	}
	for _, p := range parts {
		for _, id := range order {
			if o := nodes[id]; o != nil && strOf(o, "parentUuid") == p && strOf(o, "type") == "user" {
				for _, b := range blocks(o) {
					seen[id] = seen[id] || strOf(b, "type") == "tool_result"
				}
			}
		}
	}
	// What is still open is answered by id, wherever the result hangs.
	calls := map[string]bool{}
	for _, id := range order {
		for _, b := range blocks(nodes[id]) {
			if seen[id] && strOf(b, "type") == "tool_use" && strOf(sub(nodes[id], "message"), "id") != "" {
				calls[strOf(b, "id")] = true
			}
		}
	}
	for _, id := range order {
		for _, b := range blocks(nodes[id]) {
			if seen[id] && strOf(b, "type") == "tool_result" {
				delete(calls, strOf(b, "tool_use_id"))
			}
		}
	}
	for _, id := range order {
		for _, b := range blocks(nodes[id]) {
			if strOf(b, "type") == "tool_result" && calls[strOf(b, "tool_use_id")] && !yes(nodes[id], "isSidechain") {
				delete(calls, strOf(b, "tool_use_id"))
				seen[id] = true
			}
		}
	}
	for id := range seen {
		n.live = append(n.live, pos[id])
		if startsTurn(nodes[id]) {
			n.turns++
		}
	}
	sort.Ints(n.live)
	return n
}

// relink applies the last compaction's list of kept messages.
func (n *naive) relink(nodes map[string]object, order []string) bool {
	var boundary string
	some := false
	for _, id := range order {
		if o := nodes[id]; strOf(o, "subtype") == "compact_boundary" {
			boundary = id
			m := sub(o, "compactMetadata")
			some = some || m["preservedMessages"] != nil || m["preservedSegment"] != nil
		}
	}
	if !some {
		return false
	}
	meta := sub(nodes[boundary], "compactMetadata")
	kept := map[string]bool{}
	tail := ""
	if list := sub(meta, "preservedMessages"); list != nil {
		ids, _ := list["uuids"].([]any)
		anchor := strOf(list, "anchorUuid")
		for _, v := range ids {
			if nodes[v.(string)] == nil {
				return false
			}
		}
		p := anchor
		for _, v := range ids {
			nodes[v.(string)]["parentUuid"] = p
			p = v.(string)
			kept[p] = true
		}
		tail = p
		for id, o := range nodes {
			if strOf(o, "parentUuid") == anchor && id != ids[0] {
				o["parentUuid"] = tail
			}
		}
	} else if meta["preservedSegment"] != nil {
		return false
	}
	gone := map[string]bool{}
	for _, id := range order {
		if id == boundary {
			break
		}
		if !kept[id] {
			gone[id] = true
			delete(nodes, id)
		}
	}
	if tail != "" {
		for _, o := range nodes {
			if t := strOf(o, "type"); gone[strOf(o, "parentUuid")] && (t == "user" || t == "assistant") {
				o["parentUuid"] = tail
			}
		}
	}
	return tail != ""
}

func readNaiveCodex(t testing.TB, path string) naive {
	var n naive
	objs, lineOf := n.objects(t, path)
	for i, o := range objs {
		item := o
		typ := strOf(o, "type")
		switch {
		case typ == "compacted":
			n.compactions++
			n.live, n.turns, n.tokens = []int{lineOf[i]}, 0, 0
			continue
		case typ == "event_msg":
			p := sub(o, "payload")
			if u := sub(sub(p, "info"), "last_token_usage"); u != nil {
				n.tokens, _ = u["total_tokens"].(float64)
			}
			continue
		case typ == "response_item":
			item = sub(o, "payload")
		case o["payload"] != nil:
			continue
		}
		switch strOf(item, "type") {
		case "message":
			first := ""
			list, _ := item["content"].([]any)
			for _, b := range list {
				if s := strOf(b.(object), "text"); s != "" && first == "" {
					first = s
				}
			}
			injected := strings.HasPrefix(first, "<") || strings.HasPrefix(first, "# AGENTS.md")
			if strOf(item, "role") == "user" && !injected {
				n.turns++
				n.allTurns++
			}
		case "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "web_search_call", "compaction", "tool_search_call", "tool_search_output":
		default:
			continue
		}
		if n.compactions > 0 && len(n.live) == 1 && n.turns == 0 {
			n.turns = 1 // compacted in mid-turn, which goes on
		}
		n.live = append(n.live, lineOf[i])
	}
	return n
}

// recorded finds recorded sessions; they are not part of the repository.
func recorded(t testing.TB, pattern string) []string {
	t.Helper()
	files := samples.Find(pattern, "real/"+pattern)
	if len(files) == 0 {
		t.Skip("no recorded sessions here")
	}
	return files
}
