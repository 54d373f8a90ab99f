package message

// ServiceStatus follows it where the service gave a status.
var ServiceStatus = Text{ZH: "（狀態 %d）", EN: " (status %d)"}

// ModelRole is the system prompt of a model that is asked one question, in place
// of an agent's long one.
var ModelRole = Text{
	ZH: "你只回答被要求的內容，不加任何其他文字。",
	EN: "You answer with exactly what is asked for and nothing else.",
}
