package config

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DecodeYAML fills the struct that into points to, key by key. What into holds
// on entry are the defaults: a key that is absent, null or wrong keeps them.
//
// file and firstLine (the line of the file on which src begins) are for the
// problems only. Fields may be structs, booleans, strings, integers, floats,
// [time.Duration], []string, types with UnmarshalText and maps of structs by name.
// Besides yaml:"name" the tags min, max, oneof (for lists: of each item) and prefix limit a
// value. In a struct of a map every key is needed, but
// for those with the tag like, which are then like that field.
func DecodeYAML(src []byte, file string, firstLine int, into any) []Problem {
	return decodeYAML(src, file, firstLine, into).problems
}

func decodeYAML(src []byte, file string, firstLine int, into any) *decoder {
	v := reflect.ValueOf(into).Elem()
	base := reflect.New(v.Type()).Elem()
	base.Set(v)
	d := &decoder{file: file, offset: firstLine - 1, seen: map[string]int{}}
	d.parse(src, func(body Node) {
		switch body.Kind {
		case Null:
		case Map:
			d.mapping(body, v, base, "")
		default:
			d.report(body.Line, "", "每行要寫成 \"key: value\"，這裡是 %s", "want lines of the form \"key: value\", got %s", describe(body))
		}
	})
	return d
}

type decoder struct {
	file     string
	offset   int
	seen     map[string]int // dotted key → line of its first appearance
	set      []string       // keys whose value was good
	problems []Problem
}

// maxProblems keeps a file that is no settings file at all from filling a screen.
const maxProblems = 20

func (d *decoder) add(line int, key string, msg said) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, msg.at(d.file, line+d.offset, strings.ReplaceAll(key, "\n", " ")))
	}
}

func (d *decoder) report(line int, key, zh, en string, args ...any) {
	d.add(line, key, say(zh, en, args...))
}

func (d *decoder) mapping(m Node, v, base reflect.Value, path string) {
	for _, kv := range m.Members {
		key := join(path, kv.Key)
		f, ok := fieldByKey(v, base, kv.Key)
		if !ok {
			d.report(kv.Line, key, "沒有這個鍵%s", "unknown key%s", suggest(path, kv.Key, keyed(v.Type())))
			continue
		}
		first, again := d.seen[key]
		d.seen[key] = kv.Line + d.offset
		if named := f.value.Kind() == reflect.Map; named || f.value.Kind() == reflect.Struct {
			if again {
				d.report(kv.Line, key, "這一節出現兩次，第一次在第 %d 行", "section appears twice, first on line %d", first)
			}
			switch {
			case kv.Value.Kind == Null:
			case kv.Value.Kind != Map:
				d.report(kv.Value.Line, key, "要一節鍵值，這裡是 %s", "want a section of keys, got %s", describe(kv.Value))
			case named:
				d.entries(kv.Value, f.value, key)
			default:
				d.mapping(kv.Value, f.value, f.base, key)
			}
			continue
		}
		if again {
			// Neither of the two is more likely to be the one that is meant.
			f.value.Set(f.base)
			d.set = slices.DeleteFunc(d.set, func(k string) bool { return k == key })
			d.report(kv.Line, key, "設定了兩次，第一次在第 %d 行；使用預設值", "set twice, first on line %d; the default is used", first)
			continue
		}
		if kv.Value.Kind == Null {
			continue
		}
		if at, err := setLeaf(f.value, kv.Value, f.tag); err != nil {
			d.report(at.Line, key, "%s，這裡是 %s", "%s, got %s", saidOf(err), describe(at))
			continue
		}
		d.set = append(d.set, key)
	}
}

// entries fills a map of structs. One with a problem is left out whole: half of it
// might be worse than nothing.
func (d *decoder) entries(m Node, v reflect.Value, path string) {
	sets := len(d.set)
	for _, kv := range m.Members {
		key, before := join(path, kv.Key), len(d.problems)
		first, again := d.seen[key]
		d.seen[key] = kv.Line + d.offset
		entry := reflect.New(v.Type().Elem()).Elem()
		switch {
		case kv.Key == "":
			d.report(kv.Line, path, "要一個名稱", "want a name")
		case again:
			d.report(kv.Line, key, "設定了兩次，第一次在第 %d 行", "set twice, first on line %d", first)
		case kv.Value.Kind != Map:
			d.report(kv.Value.Line, key, "要一節鍵值，這裡是 %s", "want a section of keys, got %s", describe(kv.Value))
		default:
			d.mapping(kv.Value, entry, entry, key)
			for f := range entry.Type().Fields() {
				switch leaf, like := f.Tag.Get("yaml"), f.Tag.Get("like"); {
				case slices.Contains(d.set, join(key, leaf)):
				case like != "":
					entry.FieldByIndex(f.Index).Set(entry.FieldByName(like))
				case len(d.problems) == before:
					d.report(kv.Line, key, "缺少 %s", "%s is missing", leaf)
				}
			}
		}
		if len(d.problems) > before || len(d.problems) == maxProblems {
			continue
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(kv.Key), entry)
	}
	if d.set = d.set[:sets]; v.Len() > 0 {
		d.set = append(d.set, path)
	}
}

type field struct {
	value, base reflect.Value
	tag         reflect.StructTag
}

// fieldAt is the field of a dotted key, which exists.
func fieldAt(v, base reflect.Value, key string) (f field) {
	for name := range strings.SplitSeq(key, ".") {
		f, _ = fieldByKey(v, base, name)
		v, base = f.value, f.base
	}
	return f
}

// keyed are the fields of a struct, and of structs in it that have no key of their own, by
// their keys.
func keyed(t reflect.Type) []reflect.StructField {
	none := func(f reflect.StructField) bool { return strings.Trim(f.Tag.Get("yaml"), "-") == "" }
	return slices.DeleteFunc(reflect.VisibleFields(t), none)
}

func fieldByKey(v, base reflect.Value, name string) (field, bool) {
	for _, f := range keyed(v.Type()) {
		if f.Tag.Get("yaml") == name {
			return field{v.FieldByIndex(f.Index), base.FieldByIndex(f.Index), f.Tag}, true
		}
	}
	return field{}, false
}

// setLeaf changes v only when the whole value is good; else it names what is wrong in it.
func setLeaf(v reflect.Value, n Node, tag reflect.StructTag) (Node, error) {
	t := v.Type()
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		p := reflect.New(t)
		if err := p.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Text)); err != nil {
			return n, err
		}
		v.Set(p.Elem())
	case t == reflect.TypeFor[time.Duration]():
		return n, setDuration(v, n, tag)
	case t.Kind() == reflect.Bool:
		if !n.isBool() {
			return n, say("要 true 或 false", "want true or false")
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	case t.Kind() == reflect.String:
		if err := n.limitText(tag); err != nil {
			return n, err
		}
		v.SetString(n.Text)
	case v.CanInt() || v.CanFloat():
		return n, setNumber(v, n, tag)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return setList(v, n, tag)
	default:
		panic("config: no rule to decode a " + t.String())
	}
	return n, nil
}

func setDuration(v reflect.Value, n Node, tag reflect.StructTag) error {
	got, err := time.ParseDuration(n.Text)
	if err != nil {
		return say("要時間長度，例如 90s 或 5m", "want a duration such as 90s or 5m")
	}
	lo, errLo := time.ParseDuration(tag.Get("min"))
	hi, errHi := time.ParseDuration(tag.Get("max"))
	if errLo == nil && got < lo || errHi == nil && got > hi {
		return say("要 %s 到 %s 的時間長度", "want a duration from %s to %s", tag.Get("min"), tag.Get("max"))
	}
	v.SetInt(int64(got))
	return nil
}

func setNumber(v reflect.Value, n Node, tag reflect.StructTag) error {
	noun := said{"數字", "number"}
	if v.CanInt() {
		noun = said{"整數", "whole number"}
	}
	f, ok := n.number()
	// Floats hold whole numbers exactly up to 2^53, far above every limit in use.
	if !ok || v.CanInt() && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		return say("要%s", "want a %s", noun)
	}
	if err := limitNumber(f, noun, tag); err != nil {
		return err
	}
	v.Set(reflect.ValueOf(f).Convert(v.Type()))
	return nil
}

func setList(v reflect.Value, n Node, tag reflect.StructTag) (Node, error) {
	if n.Kind != List {
		return n, say("要清單", "want a list")
	}
	list := make([]string, len(n.Items))
	for i, item := range n.Items {
		err := item.limitText(tag)
		if err == nil && strings.TrimSpace(item.Text) == "" {
			err = say("要文字", "want text")
		}
		if err != nil {
			return item, say("第 %d 項：%s", "item %d: %s", i+1, saidOf(err))
		}
		list[i] = item.Text
	}
	v.Set(reflect.ValueOf(list).Convert(v.Type()))
	return n, nil
}

func limitNumber(f float64, noun said, tag reflect.StructTag) error {
	lo, errLo := strconv.ParseFloat(tag.Get("min"), 64)
	hi, errHi := strconv.ParseFloat(tag.Get("max"), 64)
	switch {
	case errLo == nil && errHi == nil && (f < lo || f > hi):
		return say("要 %[2]s 到 %[3]s 的%[1]s", "want a %s from %s to %s", noun, tag.Get("min"), tag.Get("max"))
	case errLo == nil && f < lo:
		return say("要至少 %[2]s 的%[1]s", "want a %s of at least %s", noun, tag.Get("min"))
	}
	return nil
}

// limitText takes a bare number where text is wanted (a model called 4) as it is written.
func (n Node) limitText(tag reflect.StructTag) error {
	s := n.Text
	if n.Kind != Scalar || n.isBool() {
		return say("要文字", "want text")
	}
	if names := strings.Fields(tag.Get("oneof")); len(names) > 0 && !slices.Contains(names, s) {
		return say("可用的值：%s", "want one of %s", said{strings.Join(names, "、"), strings.Join(names, ", ")})
	}
	if p := strings.Fields(tag.Get("prefix")); len(p) > 0 && s != "" &&
		!slices.ContainsFunc(p, func(p string) bool { return strings.HasPrefix(s, p) && len(s) > len(p) }) {
		return say("要以 %s 開頭的文字", "want text that starts with %s", said{strings.Join(p, " 或 "), strings.Join(p, " or ")})
	}
	return nil
}

func (n Node) isBool() bool {
	return n.Kind == Scalar && !n.Quoted && (strings.EqualFold(n.Text, "true") || strings.EqualFold(n.Text, "false"))
}

// number reads unquoted scalars itself: the library takes 1e6 for text and
// knows 017 as octal, which nobody means in a settings file.
func (n Node) number() (float64, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64)
	return f, err == nil && n.Kind == Scalar && !n.Quoted && !math.IsInf(f, 0) && !math.IsNaN(f)
}

func describe(n Node) said {
	_, number := n.number()
	switch {
	case n.Kind == Map:
		return said{"一節鍵值", "a section"}
	case n.Kind == List:
		return said{"清單", "a list"}
	case n.Kind == Null:
		return said{"空的", "nothing"}
	case n.Kind == Other:
		return said{"不支援的 anchor、alias 或 tag", "an anchor, alias or tag, which are not supported here"}
	case number || n.isBool():
		return said{n.Text, n.Text}
	}
	return said{quote(n.Text), quote(n.Text)}
}

// quote shows a value on one line and not at any length.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// suggest names the known key below path that a mistyped one is closest to.
func suggest(path, name string, known []reflect.StructField) said {
	best, least := "", 3
	for _, f := range known {
		k := f.Tag.Get("yaml")
		if n := len(name) - len(k); n >= least {
			continue // nothing mistyped
		}
		if n := Distance(name, k); n < least {
			best, least = k, n
		}
	}
	if best == "" {
		return said{}
	}
	return say("，是 %q 嗎？", "; did you mean %q?", join(path, best))
}

// Distance counts the letters to insert, leave out, change or swap with the next.
func Distance(a, b string) int {
	older, prev := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, prev = prev, row
	}
	return prev[len(b)]
}
