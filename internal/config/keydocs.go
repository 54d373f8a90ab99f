package config

// doc explains a key. prompt is the name, in the auto-compact prompt file, of a
// key that overrides it.
type doc struct{ key, prompt, zh, en string }

var keyDocs = [...]doc{
	{
		"language", "",
		"hook 訊息的語言", "language of what hooks print",
	},
	{
		"strict", "",
		"無法解析的路由視為 FAIL，而不是未驗證的 PASS", "an unparsable route is a FAIL instead of an unverified PASS",
	},

	{
		"workflow.max_retries", "",
		"一個階段最多退回重做幾次；0 為不退回", "how often a stage may send the work back; 0 is never",
	},
	{
		"workflow.max_crashes", "",
		"品質階段連續幾次沒有回報路由就放棄", "consecutive answers without a route before a quality stage is given up",
	},
	{
		"workflow.barrier_timeout", "",
		"並行階段等待其他成員多久", "how long parallel stages wait for each other",
	},
	{
		"workflow.loop_max_iterations", "",
		"Stop hook 最多讓工作流自動繼續幾次", "how often the Stop hook keeps a workflow going",
	},
	{
		"workflow.guard", "",
		"工作流進行中禁止主 agent 自己修改檔案", "keep the main agent from editing files itself while a workflow runs",
	},

	{
		"compact.threshold_bytes", "",
		"transcript 超過多少位元組才建議 compact", "transcript size in bytes above which a compaction is suggested",
	},
	{
		"compact.min_stages_since_compact", "",
		"距上次 compact 或建議至少完成幾個階段", "completed stages needed since the last compaction or suggestion",
	},
	{
		"compact.mode", "",
		"在自然邊界：什麼都不做、只記錄、提出建議，或自動 compact", "at a natural boundary: nothing, only record, suggest, or compact by itself",
	},
	{
		"compact.context_window", "",
		"模型 context 的 token 數；0 表示依模型判斷", "tokens of the model's context; 0 takes them from the model",
	},
	{
		"compact.ceiling_tokens", "",
		"達到此 token 數時無論如何都允許 compact；0 表示自動計算", "tokens at which compaction is allowed whatever happens; 0 computes it",
	},
	{
		"compact.native_window", "",
		"auto 模式下寫入 Claude Code 的 autoCompactWindow", "autoCompactWindow that mode auto sets in Claude Code",
	},
	{
		"compact.native_percent", "",
		"auto 模式下 Claude Code 開始嘗試 compact 的百分比", "percentage at which mode auto lets Claude Code start to ask",
	},
	{
		"compact.resume", "",
		"watcher 壓縮之後：只在有未完成工作的證據時讓 agent 繼續、一律繼續，或從不",
		"after a watcher's compaction: let the agent carry on only on evidence of open work, always, or never",
	},
	{
		"compact.packet_author", "packet.author",
		"延續封包由 watcher 撰寫，或由 agent 依提示檔撰寫", "who writes the continuation packet: the watcher, or the agent from the prompt file",
	},

	{
		"compact.trigger.early_percent_remaining_lt", "trigger.early_percent_remaining_lt",
		"剩餘百分比低於此值：只在大步驟的邊界 compact", "percent remaining below which only big steps allow a compaction",
	},
	{
		"compact.trigger.ready_percent_remaining_lt", "trigger.ready_percent_remaining_lt",
		"剩餘百分比低於此值：commit 與階段完成也可以", "percent remaining below which commits and finished stages do, too",
	},
	{
		"compact.trigger.asap_percent_remaining_lt", "trigger.asap_percent_remaining_lt",
		"剩餘百分比低於此值：任何自然停頓都可以", "percent remaining below which any natural pause does",
	},
	{
		"compact.trigger.emergency_percent_remaining_lt", "trigger.emergency_percent_remaining_lt",
		"剩餘百分比低於此值：不等邊界", "percent remaining below which no boundary is needed",
	},
	{
		"compact.trigger.auto_requires_any_boundary", "trigger.auto_requires_any_boundary",
		"哪些邊界算數；只會縮小各級允許的範圍", "boundaries that count; narrows what a tier allows, never widens it",
	},

	{
		"compact.packet.max_tail_chars", "packet.max_tail_chars",
		"封包中保留最後輸出的字元數", "characters of the last output kept in a packet",
	},
	{
		"compact.packet.expiry", "packet.expiry",
		"未送達的封包多久後作廢", "age at which a packet that was not delivered is dropped",
	},

	{
		"compact.markers.agent_done", "markers.agent_done",
		"表示 agent 完成工作的語句；取代提示檔的清單", "phrases that say the agent is done; replaces the prompt file's list",
	},
	{
		"compact.markers.agent_done_negative", "markers.agent_done_negative",
		"出現即否定 agent_done 的語句；取代提示檔的清單", "phrases that take agent_done back; replaces the prompt file's list",
	},
	{
		"compact.markers.topic_shift", "markers.topic_shift",
		"表示轉換主題的語句；取代提示檔的清單", "phrases that announce another topic; replaces the prompt file's list",
	},
	{
		"compact.markers.concluding_thought", "markers.concluding_thought",
		"表示總結的語句；取代提示檔的清單", "phrases that sum up; replaces the prompt file's list",
	},

	{
		"compress.provider", "",
		"由誰壓縮舊訊息；builtin 不連網路", "who compresses old messages; builtin uses no network",
	},
	{
		"compress.model", "",
		"模型名稱；空白表示供應者的預設", "name of the model; empty for the provider's default",
	},
	{
		"compress.base_url", "",
		"API 位址；空白表示供應者的預設", "address of the API; empty for the provider's own",
	},
	{
		"compress.targets.compress", "",
		"compress 的目標長度百分比", "percentage of the length that compress aims at",
	},
	{
		"compress.targets.heavy_compress", "",
		"heavy-compress 的目標長度百分比", "percentage of the length that heavy-compress aims at",
	},
	{
		"compress.concurrency", "",
		"同時進行的請求數", "requests at the same time",
	},
	{
		"compress.max_attempts", "",
		"每則訊息最多嘗試幾次", "attempts per message",
	},
	{
		"compress.timeout_initial_ms", "",
		"第一次嘗試的時限（毫秒）", "time limit of the first attempt in milliseconds",
	},
	{
		"compress.timeout_increment_ms", "",
		"每次重試增加的時限（毫秒）", "milliseconds added to it by each retry",
	},
	{
		"compress.min_tokens", "",
		"少於此 token 數的訊息不壓縮", "messages below this number of tokens are left alone",
	},

	{
		"cleanup.after_days", "",
		"結束的 session 檔案保留幾天", "days that the files of finished sessions are kept",
	},
	{
		"prices", "",
		"模型的價格（每百萬 token 的美元），依名稱或名稱開頭，優先於內建價格表：{MODEL: {input: 2, output: 10, cache_write: 2.5, cache_read: 0.2}}；未寫的 cache_write、cache_read 以 input 計", "prices of models in US dollars for a million tokens, by name or its beginning, before those of the built-in table: {MODEL: {input: 2, output: 10, cache_write: 2.5, cache_read: 0.2}}; a cache_write or cache_read that is left out costs as much as input",
	},
}
