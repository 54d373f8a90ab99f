package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	known := map[string]KeyDoc{}
	for _, k := range Keys() {
		if _, again := known[k.Key]; again {
			t.Errorf("%s: listed twice", k.Key)
		}
		known[k.Key] = k
		if k.ZH == "" || k.EN == "" {
			t.Errorf("%s: a language is missing", k.Key)
		}
		if strings.Contains(k.EN, "\n") || strings.Contains(k.ZH, "\n") {
			t.Errorf("%s: a doc is one line", k.Key)
		}
		if strings.HasPrefix(k.Key, "compact.markers.") == (k.Default != "") {
			t.Errorf("%s: default %q", k.Key, k.Default)
		}
	}
	for line := range strings.Lines(keyTexts) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, ok := known[name]; !ok && line[0] != '\t' {
			t.Errorf("%s: documented, but no such key", name)
		}
	}
	for _, e := range environment {
		if known[e.key].Env != e.name {
			t.Errorf("%s overrides %s, which is no key", e.name, e.key)
		}
	}
}

// What is documented as the default is the default: a file that spells out every
// default decodes to Defaults.
func TestDocumentedDefaults(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"zh-TW", "en"} {
		src := Default(lang, true)

		c := Defaults()
		c.Language = ""
		if problems := DecodeYAML(src, "config.yaml", 1, &c); len(problems) > 0 {
			t.Fatalf("%s: %v", lang, problems)
		}
		want := Defaults()
		want.Language = Language(lang)
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("%s as seeded: %s", lang, diff)
		}

		open := regexp.MustCompile(`(?m)^( *)#([a-z_]+:)`).ReplaceAll(src, []byte("$1$2"))
		// Inner keys are not in the file.
		spelled := Defaults()
		walkKeys(reflect.ValueOf(&spelled).Elem(), "", func(_ string, v reflect.Value, tag reflect.StructTag) {
			if tag.Get("list") != "no" {
				v.SetZero()
			}
		})
		if problems := DecodeYAML(open, "config.yaml", 1, &spelled); len(problems) > 0 {
			t.Fatalf("%s opened: %v\n%s", lang, problems, open)
		}
		if diff := cmp.Diff(want, spelled); diff != "" {
			t.Errorf("%s opened: %s", lang, diff)
		}
	}
	if string(Default("xx", true)) != string(Default("zh-TW", true)) {
		t.Error("an unknown language is not Chinese")
	}
}
