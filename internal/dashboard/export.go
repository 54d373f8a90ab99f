package dashboard

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Export is the page's view of past sessions as a file by itself, for whoever wants to
// send or keep it: the same scripts and styles, the report that they show, and nothing
// that is loaded from anywhere. Everything from a session is data in it, never markup.
func Export(report any, l message.Lang) ([]byte, error) {
	data, err := json.Marshal(object{"report": report, "texts": message.DashboardTexts(l)})
	if err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	lang := "en"
	if l == message.ZH {
		lang = "zh-Hant"
	}
	// Modules of a file cannot import each other by path: each gets a name and is a
	// part of the page.
	modules := map[string]string{}
	for _, name := range []string{"vendor/htm-preact.js", "api.js", "ui.js", "audit.js"} {
		modules["overtone/"+name] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(module(name)))
	}
	imports, err := json.Marshal(object{"imports": modules})
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join([]string{
		`<!doctype html>
<html lang="` + lang + `">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:">
<title>Overtone</title>
<style>`, asset("vendor/uplot.css"), asset("style.css"), `</style>
<script>`, asset("vendor/uplot.js"), `</script>
<script type="importmap">`, string(imports), `</script>
<script type="application/json" id="data">`, string(data), `</script>
</head>
<body>
<main id="app"></main>
<noscript>`, message.PageNeedsScripts.In(l), `</noscript>
<script type="module">`, module("export.js"), `</script>
</body>
</html>
`,
	}, "")), nil
}

// asset is one of the page's files.
func asset(name string) string {
	data, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is in the binary
	}
	return string(data)
}

// module is a script whose imports name parts of one page.
func module(name string) string {
	return strings.ReplaceAll(asset(name), " from './", " from 'overtone/")
}
