package handover

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// 001: what a workflow tells after a compaction: counts only where there are any, and
// never more than 2,000 units; the tasks are cut first, and the directive stays.
func TestRecoveryText(t *testing.T) {
	t.Parallel()
	r := Recovery{WorkflowType: "standard", Bar: "✅📋⬜🧪 (1/2)", MaxRetries: 3}
	plain := r.Text(message.ZH)
	for _, never := range []string{"失敗次數", "拒絕次數", "活躍 Agents", "目前階段：", "已截斷"} {
		if strings.Contains(plain, never) {
			t.Errorf("%q in %s", never, plain)
		}
	}
	if !strings.HasPrefix(plain, "[Overtone 狀態恢復（compact 後）]\n工作流：standard\n") || !strings.Contains(plain, "⛔ 禁止詢問使用者") {
		t.Errorf("%s", plain)
	}
	r.FailCount = 1
	if text := r.Text(message.ZH); !strings.Contains(text, "失敗次數：1/3") || strings.Contains(text, "拒絕次數") {
		t.Errorf("%s", text)
	}
	r.Stage, r.FailCount, r.RejectCount, r.Agents, r.Tasks = "🧪 測試", 2, 1, []string{"developer（DEV）", "qa（QA）"}, "TASKS"
	full := r.Text(message.ZH)
	at := -1
	for _, part := range []string{"目前階段：🧪 測試", "失敗次數：2/3", "拒絕次數：1/3", "活躍 Agents：developer（DEV）, qa（QA）", "TASKS", "⛔ 禁止詢問使用者"} {
		i := strings.Index(full, part)
		if i <= at {
			t.Errorf("%q at %d in %s", part, i, full)
		}
		at = i
	}
	r.Wait = true
	if text := r.Text(message.ZH); strings.Contains(text, "⛔") || !strings.HasSuffix(text, "TASKS") {
		t.Errorf("who waits is told to go on: %s", text)
	}
	r.Wait = false
	room := recoveryMax - message.Units(full) + len("TASKS")
	for extra, cut := range map[int]bool{0: false, 1: true, 5000: true} {
		r.Tasks = strings.Repeat("x", room+extra)
		text := r.Text(message.ZH)
		if n := message.Units(text); n > recoveryMax || !cut && n != recoveryMax || strings.HasSuffix(text, "... (已截斷，完整狀態請查看 workflow.json)") != cut || !strings.Contains(text, "⛔ 禁止詢問使用者") {
			t.Errorf("%d too many: %d units, …%s", extra, message.Units(text), text[len(text)-80:])
		}
	}
	r.WorkflowType, r.Tasks = strings.Repeat("w", 5000), ""
	if text := r.Text(message.ZH); message.Units(text) > recoveryMax || !strings.Contains(text, "⛔") {
		t.Errorf("%d units", message.Units(text))
	}
}
