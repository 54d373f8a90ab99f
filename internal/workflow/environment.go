package workflow

import (
	"cmp"
	"path"
	"strings"

	"github.com/tidwall/gjson"
)

// manifests are the files that tell a project's language, and what in them names
// a framework; of several the last one counts. They are constant data, asked in
// this order.
var manifests = [...]struct {
	file, language string
	frameworks     []string
}{
	{"go.mod", "go", []string{"gin-gonic/gin", "labstack/echo", "gofiber/fiber", "go-chi/chi"}},
	{"Cargo.toml", "rust", []string{"\naxum", "\nactix-web", "\nrocket"}},
	{"pyproject.toml", "python", []string{"django", "fastapi", "flask"}},
	{"requirements.txt", "python", []string{"django", "fastapi", "flask"}},
	{"pom.xml", "java", nil},
	{"build.gradle", "java", nil},
	{"Gemfile", "ruby", nil},
	{"composer.json", "php", nil},
}

// scriptFrameworks are what a JavaScript project names among its dependencies;
// those with a face come first.
var scriptFrameworks = [...]struct {
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

// DetectEnvironment reads off a project's manifest files what it is made of.
// read gives the content of a file in the project's root. A package.json beside
// another language tells the frontend.
func DetectEnvironment(read func(name string) (string, bool)) Environment {
	var e Environment
	for _, m := range manifests {
		if data, ok := read(m.file); ok {
			e.Language = m.language
			for _, f := range m.frameworks {
				if strings.Contains(strings.ToLower(data), f) {
					e.Framework = path.Base(strings.TrimSpace(f))
				}
			}
			break
		}
	}
	if data, ok := read("package.json"); ok {
		e.addScript(gjson.Parse(data))
	}
	return e
}

func (e *Environment) addScript(manifest gjson.Result) {
	has := func(dep string) bool {
		key := strings.ReplaceAll(dep, ".", `\.`)
		return manifest.Get("dependencies."+key).Exists() || manifest.Get("devDependencies."+key).Exists()
	}
	if e.Language == "" {
		e.Language = "javascript"
		if has("typescript") {
			e.Language = "typescript"
		}
	}
	for _, f := range scriptFrameworks {
		if has(f.dep) {
			e.Framework = cmp.Or(e.Framework, f.name)
			e.Frontend = f.frontend
			return
		}
	}
}
