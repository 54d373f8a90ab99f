package message

// What a model is asked when it compresses a message.
var (
	CompressPrompt = Text{
		ZH: "你是文字壓縮器。把下面一則 AI 程式助理對話中的訊息（角色：%[2]s）壓縮到原長度的約 %[1]d%%（每四個字元算一個 token）。\n" +
			"- 使用原文的語言。\n" +
			"- 路徑、URL、commit 雜湊、數字、識別名稱、錯誤訊息與程式碼一字不改；寧可刪掉整句，也不要改寫它們。\n" +
			"- 保留決定、理由與未完成的工作；刪掉重複、客套與猶豫。\n" +
			"- 不要加入原文沒有的內容。拿不準時寫短一點。\n" +
			"- 只輸出一個 JSON 物件，鍵為 \"text\"，前後不要有任何文字。\n",
		EN: "You are a text compressor. Shorten the message below, taken from a coding session (role: %[2]s), to about %[1]d%% of its length (four characters count as one token).\n" +
			"- Keep the language of the original.\n" +
			"- Copy paths, URLs, commit hashes, numbers, identifiers, error messages and code unchanged; rather drop a sentence than reword them.\n" +
			"- Keep decisions, their reasons and open work; drop repetition, courtesy and hedging.\n" +
			"- Add nothing that the original does not say. When unsure, be shorter.\n" +
			"- Answer with exactly one JSON object with the key \"text\" and nothing around it.\n",
	}
	CompressPromptLarge = Text{
		ZH: "- 這則訊息很長：先找出各段重點再下筆，完成後檢查長度與意思。\n",
		EN: "- The message is long: find the point of each part first, then write, then check length and meaning.\n",
	}
	CompressPromptAgain = Text{
		ZH: "- 上一次的結果未被採用：不可空白、不可比原文長、不可出現原文沒有的路徑、網址、雜湊或數字。\n",
		EN: "- The last answer was not accepted: it must not be empty or longer than the original, nor name paths, URLs, hashes or numbers that the original does not have.\n",
	}
)
