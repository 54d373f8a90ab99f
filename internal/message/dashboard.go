package message

import _ "embed"

// The words of the dashboard, by the name that the page calls them. {0} stands for
// the first value that is put in.
//
//go:embed dashboard.txt
var dashboardTexts string

// DashboardTexts are the dashboard's words in a language.
func DashboardTexts(l Lang) map[string]string {
	words := map[string]string{}
	eachText(dashboardTexts, func(name string, t Text) { words[name] = t.In(l) })
	return words
}

// The command's own words.
var (
	ExportWrote   = Text{ZH: "已寫入 %s（%s）", EN: "wrote %s (%s)"}
	DashboardAt   = Text{ZH: "儀表板：%s", EN: "dashboard: %s"}
	DashboardStop = Text{ZH: "按 Ctrl-C 結束", EN: "press Ctrl-C to end it"}
	DashboardPort = Text{ZH: "埠號 %d 無法使用", EN: "port %d cannot be used"}
	HintPort      = Text{ZH: "選另一個埠號，或以 --port 0 使用任一可用的", EN: "choose another one, or any that is free with --port 0"}
)
