package message

// ServiceStatus follows it where the service gave a status.
var ServiceStatus = Text{ZH: "（狀態 %d）", EN: " (status %d)"}

// ServiceFault says what kind of error of a model's service it was.
func ServiceFault(kind string) Text {
	zh := map[string]string{
		"rate limited": "請求太頻繁", "server error": "服務端錯誤", "timeout": "逾時", "network error": "網路錯誤", "unreadable reply": "回答無法解析",
		"bad request": "請求不被接受", "not authorised": "未授權", "not found": "找不到", "cancelled": "已取消",
	}[kind]
	return Text{ZH: zh, EN: kind}
}

// ModelRole is the system prompt of a model that is asked one question, in place
// of an agent's long one.
var ModelRole = Text{
	ZH: "你只回答被要求的內容，不加任何其他文字。",
	EN: "You answer with exactly what is asked for and nothing else.",
}
