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
	return []byte(page("report.html", "lang", htmlLang(l), "style", asset("static/vendor/uplot.css")+asset("static/style.css"), "uplot", asset("static/vendor/uplot.js"),
		"imports", string(imports), "data", string(data), "noscript", message.PageNeedsScripts.In(l), "script", module("export.js"))), nil
}

func htmlLang(l message.Lang) string {
	if l == message.EN {
		return "en"
	}
	return "zh-Hant"
}

// page is a page that stands by itself, with what goes into its places: their names and
// values, one after the other.
func page(name string, places ...string) string {
	for i := 0; i < len(places); i += 2 {
		places[i] = "{" + places[i] + "}"
	}
	return strings.NewReplacer(places...).Replace(asset("pages/" + name))
}

func asset(name string) string {
	data, err := static.ReadFile(name)
	if err != nil {
		panic(err) // it is in the binary
	}
	return string(data)
}

// module is a script whose imports name parts of one page.
func module(name string) string {
	return strings.ReplaceAll(asset("static/"+name), " from './", " from 'overtone/")
}
