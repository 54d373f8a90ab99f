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
	ExportWrote     = Text{ZH: "已寫入 %s（%s）", EN: "wrote %s (%s)"}
	DashboardAt     = Text{ZH: "儀表板：%s", EN: "dashboard: %s"}
	DashboardStop   = Text{ZH: "按 Ctrl-C 結束", EN: "press Ctrl-C to end it"}
	DashboardNoOpen = Text{ZH: "無法開啟瀏覽器（%s）；請自行開啟上面的連結", EN: "the browser could not be opened (%s); open the link above yourself"}
	DashboardPort   = Text{ZH: "埠號 %d 無法使用", EN: "port %d cannot be used"}
	HintPort        = Text{ZH: "選另一個埠號，或以 --port 0 使用任一可用的", EN: "choose another one, or any that is free with --port 0"}
	DashboardSpent  = Text{
		ZH: "這個連結已失效：它只能由你使用一次，並在一分鐘內有效。請開啟 overtone dashboard 在終端機印出的連結。如果你還沒有看過儀表板，可能是別人用了它：請按 Ctrl-C 結束儀表板，再重新啟動。",
		EN: "This link is no longer good: it works once, within a minute, and for you only. Open the link that overtone dashboard has printed in its terminal. If you have not seen the dashboard yet, somebody else may have: end it with Ctrl-C and start it again.",
	}
)
