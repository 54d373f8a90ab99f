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
