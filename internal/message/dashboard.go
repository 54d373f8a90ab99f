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
	HelpDashboard     = Text{ZH: "在瀏覽器中即時檢視 session、決策與工作流", EN: "look at sessions, decisions and workflows in a browser, live"}
	HelpDashboardLong = Text{
		ZH: "在本機開啟一個唯讀的網頁：所有 host 的 session、context 變化與層級、採用與拒絕的邊界\n及其原因、壓縮的收據、工作流圖、時間軸與回想。只接受本機連線；印出的連結含有每次啟動\n都會更換的 token，請勿分享。Ctrl-C 結束。",
		EN: "Serves a read-only page on this machine: the sessions of all hosts, context over time with\nits tiers, boundaries taken and refused with the reason, receipts of compactions, the\nworkflow's graph, timeline and recall. Only this machine can connect, and the link it prints\nholds a token that is new at each start: do not share it. Ctrl-C ends it.",
	}
	HelpExport     = Text{ZH: "把一個 session 存成單一 HTML 檔", EN: "save a session as one HTML file"}
	HelpExportLong = Text{
		ZH: "把一個 session 的對話存成單一 HTML 檔：輪次、摺疊的工具與思考，以及每次壓縮的完整摘要、它缺了什麼、\n交接了什麼。檔案不含 script、不載入任何東西，任何瀏覽器都能開啟。已知形式的密鑰會遮蔽；分享前仍請看過一遍。",
		EN: "Saves the conversation of a session as one HTML file: turns, tools and thoughts folded, and of\neach compaction the whole summary, what it lacked, and what was handed over. The file runs no\nscript and loads nothing, so any browser opens it anywhere. Secrets of known forms are taken\nout; look through it before you share it.",
	}
	HelpExportOutput = Text{ZH: "要寫入的檔案；- 為標準輸出（預設：目前資料夾的 SESSION-ID.html）", EN: "file to write; - for standard output (default: SESSION-ID.html in this folder)"}
	ExportWrote      = Text{ZH: "已寫入 %s（%s）", EN: "wrote %s (%s)"}
	HelpPort         = Text{ZH: "埠號（0 = 任一可用的）", EN: "port (0 = any that is free)"}
	HelpOpen         = Text{ZH: "同時開啟瀏覽器", EN: "open the browser, too"}
	DashboardAt      = Text{ZH: "儀表板：%s", EN: "dashboard: %s"}
	DashboardStop    = Text{ZH: "按 Ctrl-C 結束", EN: "press Ctrl-C to end it"}
	DashboardNoOpen  = Text{ZH: "無法開啟瀏覽器（%s）；請自行開啟上面的連結", EN: "the browser could not be opened (%s); open the link above yourself"}
	DashboardPort    = Text{ZH: "埠號 %d 無法使用", EN: "port %d cannot be used"}
	HintPort         = Text{ZH: "選另一個埠號，或以 --port 0 使用任一可用的", EN: "choose another one, or any that is free with --port 0"}
	DashboardSpent   = Text{
		ZH: "這個連結已失效：它只能由你使用一次，並在一分鐘內有效。請開啟 overtone dashboard 在終端機印出的連結。如果你還沒有看過儀表板，可能是別人用了它：請按 Ctrl-C 結束儀表板，再重新啟動。",
		EN: "This link is no longer good: it works once, within a minute, and for you only. Open the link that overtone dashboard has printed in its terminal. If you have not seen the dashboard yet, somebody else may have: end it with Ctrl-C and start it again.",
	}
)
