package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDetectEnvironment(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  Environment
	}{
		{"nothing", nil, Environment{}},
		{"go", map[string]string{"go.mod": "module x\nrequire github.com/labstack/echo/v4 v4.1.0\n"}, Environment{Language: "go", Framework: "echo"}},
		{"rust", map[string]string{"Cargo.toml": "[dependencies]\naxum = \"0.7\"\n"}, Environment{Language: "rust", Framework: "axum"}},
		{"a crate in a name is no framework", map[string]string{"Cargo.toml": "[package]\nname = \"my-axum\"\n"}, Environment{Language: "rust"}},
		{"python", map[string]string{"requirements.txt": "Django==5\n"}, Environment{Language: "python", Framework: "django"}},
		{"the first manifest counts", map[string]string{"go.mod": "module x\n", "Gemfile": "gem 'rails'\n"}, Environment{Language: "go"}},
		{"typescript", map[string]string{"package.json": `{"dependencies":{"react":"19"},"devDependencies":{"typescript":"5"}}`}, Environment{Language: "typescript", Framework: "react", Frontend: true}},
		{"a server in javascript", map[string]string{"package.json": `{"dependencies":{"express":"5"}}`}, Environment{Language: "javascript", Framework: "express"}},
		{"go with a face", map[string]string{"go.mod": "require github.com/go-chi/chi v5\n", "package.json": `{"dependencies":{"@remix-run/react":"2"}}`}, Environment{Language: "go", Framework: "chi", Frontend: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := DetectEnvironment(func(name string) (string, bool) { s, ok := tc.files[name]; return s, ok })
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(Environment{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the registry says of a stage has to hold together: a stage that judges
// names its FAIL, and every stage has an agent of its own.
func TestStageRegistry(t *testing.T) {
	t.Parallel()
	agents := map[string]bool{}
	for _, s := range Stages() {
		if s.Agent == "" || agents[s.Agent] || s.Emoji == "" || s.Label.ZH == "" || s.Label.EN == "" || s.failure == "" {
			t.Errorf("%+v is incomplete or shares its agent", s)
		}
		agents[s.Agent] = true
		if s.group != "" && !s.quality {
			t.Errorf("%s has a barrier and does not judge", s.Key)
		}
		if StageOfAgent(AgentOf(s.Key)) != s.Key {
			t.Errorf("%s is not found by its agent", s.Key)
		}
	}
	for _, tpl := range Templates() {
		for _, k := range tpl.Stages {
			if _, ok := Lookup(k); !ok {
				t.Errorf("template %s lists %s", tpl.Name, k)
			}
		}
	}
}
