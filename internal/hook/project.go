package hook

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// NewWorkflowID names a run: its time, so that ids sort, and some randomness.
func NewWorkflowID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// frameworks that a JavaScript project names among its dependencies; those with
// a face come first.
var frameworks = [...]struct {
	dep, name string
	frontend  bool
}{
	{"next", "next.js", true},
	{"nuxt", "nuxt", true},
	{"@remix-run/react", "remix", true},
	{"astro", "astro", true},
	{"svelte", "svelte", true},
	{"vue", "vue", true},
	{"@angular/core", "angular", true},
	{"solid-js", "solid", true},
	{"preact", "preact", true},
	{"react", "react", true},
	{"@nestjs/core", "nest", false},
	{"express", "express", false},
	{"fastify", "fastify", false},
	{"hono", "hono", false},
	{"koa", "koa", false},
}

// DetectEnvironment reads off the project's manifest files what it is made of.
// It is asked once, when a workflow starts.
func DetectEnvironment(root string) workflow.Environment {
	var e workflow.Environment
	if root == "" {
		return e
	}
	read := func(name string) (string, bool) {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return "", false
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		return string(data), err == nil
	}
	if data, ok := read("go.mod"); ok {
		e.Language = "go"
		for _, f := range []string{"gin-gonic/gin", "labstack/echo", "gofiber/fiber", "go-chi/chi"} {
			if strings.Contains(data, f) {
				e.Framework = f[strings.IndexByte(f, '/')+1:]
			}
		}
	}
	if data, ok := read("Cargo.toml"); ok && e.Language == "" {
		e.Language = "rust"
		for _, f := range []string{"axum", "actix-web", "rocket"} {
			if strings.Contains(data, "\n"+f) {
				e.Framework = f
			}
		}
	}
	for _, name := range []string{"pyproject.toml", "requirements.txt"} {
		if data, ok := read(name); ok && e.Language == "" {
			e.Language = "python"
			for _, f := range []string{"django", "fastapi", "flask"} {
				if strings.Contains(strings.ToLower(data), f) {
					e.Framework = f
				}
			}
		}
	}
	for name, lang := range map[string]string{"pom.xml": "java", "build.gradle": "java", "Gemfile": "ruby", "composer.json": "php"} {
		if _, ok := read(name); ok && e.Language == "" {
			e.Language = lang
		}
	}
	if data, ok := read("package.json"); ok {
		deps := gjson.Parse(data)
		has := func(dep string) bool {
			key := strings.ReplaceAll(dep, ".", `\.`)
			return deps.Get("dependencies."+key).Exists() || deps.Get("devDependencies."+key).Exists()
		}
		if e.Language == "" {
			e.Language = "javascript"
			if has("typescript") {
				e.Language = "typescript"
			}
		}
		for _, f := range frameworks {
			if has(f.dep) {
				if e.Framework == "" {
					e.Framework = f.name
				}
				e.Frontend = e.Frontend || f.frontend
				break
			}
		}
	}
	return e
}
