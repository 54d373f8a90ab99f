package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// KeyDoc documents one key of the settings file.
type KeyDoc struct {
	Key     string // dotted: workflow.max_retries
	Default string // as written in the file; empty where there is none
	Allowed string // "0–100", "a, b, c"; empty when anything of the type goes
	Env     string // variable that overrides the key
	Prompt  string // key of the auto-compact prompt file that this one overrides
	ZH, EN  string // what it does
	Inner   bool   // works like any other, and nobody has a reason to turn it: lists leave it out
}

// keyTexts explain the keys: of each a line with its name, and that of the key of the
// auto-compact prompt file that it overrides, then what it does, in Chinese and in English.
//
//go:embed keys.txt
var keyTexts string

// Keys lists every key of the settings file in the order of the file.
func Keys() []KeyDoc {
	docs := map[string]KeyDoc{}
	for text := range slices.Chunk(strings.Split(strings.TrimSpace(keyTexts), "\n"), 3) {
		key, prompt, _ := strings.Cut(text[0], " ")
		docs[key] = KeyDoc{Key: key, Prompt: prompt, ZH: strings.TrimSpace(text[1]), EN: strings.TrimSpace(text[2])}
	}
	var keys []KeyDoc
	walkKeys(reflect.ValueOf(Defaults()), "", func(key string, v reflect.Value, tag reflect.StructTag) {
		k := docs[key]
		k.Key, k.Default, k.Allowed, k.Inner = key, show(v), allowed(tag), tag.Get("list") == "no"
		if v.Type() == reflect.TypeFor[Language]() {
			k.Allowed = "zh-TW, en"
		}
		for _, e := range environment {
			if e.key == key {
				k.Env = e.name
			}
		}
		keys = append(keys, k)
	})
	return keys
}

// Values are a configuration's values as they would stand in the file.
func Values(c Config) map[string]string {
	values := map[string]string{}
	walkKeys(reflect.ValueOf(c), "", func(key string, v reflect.Value, _ reflect.StructTag) { values[key] = show(v) })
	return values
}

func walkKeys(v reflect.Value, path string, visit func(string, reflect.Value, reflect.StructTag)) {
	for field, value := range v.Fields() {
		switch key := join(path, field.Tag.Get("yaml")); {
		case field.Tag.Get("yaml") == "-":
		case value.Kind() == reflect.Struct:
			walkKeys(value, key, visit)
		default:
			visit(key, value, field.Tag)
		}
	}
}

func allowed(tag reflect.StructTag) string {
	lo, hi := tag.Get("min"), tag.Get("max")
	switch {
	case tag.Get("oneof") != "":
		return strings.Join(strings.Fields(tag.Get("oneof")), ", ")
	case tag.Get("prefix") != "":
		return strings.Join(strings.Fields(tag.Get("prefix")), "…, ") + "…"
	case lo != "" && hi != "":
		return lo + "–" + hi
	case lo != "":
		return "≥ " + lo
	}
	return ""
}

const maxShown = 8

func show(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return shortDuration(x)
	case []string:
		// A long list is read in the file that holds it.
		if len(x) > maxShown {
			return ""
		}
		return "[" + strings.Join(x, ", ") + "]"
	}
	if v.Kind() == reflect.Map {
		var entries []string
		for name, entry := range v.Seq2() {
			var keys []string
			walkKeys(entry, "", func(key string, v reflect.Value, _ reflect.StructTag) { keys = append(keys, key+": "+show(v)) })
			entries = append(entries, name.String()+": {"+strings.Join(keys, ", ")+"}")
		}
		slices.Sort(entries)
		return "{" + strings.Join(entries, ", ") + "}"
	}
	if s := fmt.Sprint(v.Interface()); s != "" || v.Kind() != reflect.String {
		return s
	}
	return `""`
}

// shortDuration writes 5m0s as 5m, as a person would.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Default returns the text of a settings file in which every key but the inner ones is explained in
// lang ("en", else Chinese) and commented out with its default, except language,
// which is set to lang where that is chosen. It is what a new user's file starts as.
func Default(lang string, chosen bool) []byte {
	en := lang == "en"
	pick := func(zh, english string) string {
		if en {
			return english
		}
		return zh
	}
	if !en {
		lang = "zh-TW"
	}
	var b strings.Builder
	fmt.Fprintln(&b, pick(
		"# Overtone 設定。被註解的行是預設值；刪除行首的 # 即可修改。",
		"# Overtone settings. A commented line shows the default; remove its # to change it."))
	var open []string
	for _, k := range Keys() {
		if k.Inner {
			continue
		}
		parts := strings.Split(k.Key, ".")
		section, name := parts[:len(parts)-1], parts[len(parts)-1]
		same := 0
		for same < len(open) && same < len(section) && open[same] == section[same] {
			same++
		}
		if len(section) == 0 || same < len(section) && same == 0 {
			b.WriteByte('\n')
		}
		for i := same; i < len(section); i++ {
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), section[i])
		}
		open = section
		pad := strings.Repeat("  ", len(section))
		fmt.Fprintf(&b, "%s# %s%s\n", pad, pick(k.ZH, k.EN), note(k, pick))
		if k.Key == "language" && chosen {
			fmt.Fprintf(&b, "%s%s: %s\n", pad, name, lang)
			continue
		}
		fmt.Fprintf(&b, "%s#%s: %s\n", pad, name, cmp.Or(k.Default, `["…"]`))
	}
	return []byte(b.String())
}

func note(k KeyDoc, pick func(zh, en string) string) string {
	env := k.Env
	if env != "" {
		env = pick("環境變數 ", "environment: ") + env
	}
	if notes := strings.Trim(k.Allowed+"; "+env, "; "); notes != "" {
		return " (" + notes + ")"
	}
	return ""
}
