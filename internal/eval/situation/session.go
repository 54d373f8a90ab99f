package situation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Session is a session whose context may be compacted anywhere.
type Session struct {
	Name, Path string
	Data       []byte
	host       transcript.Host
	cwd        string
}

// NewSession reads a session; dir takes its file, which says what host it is of.
func NewSession(dir, name string, data []byte) (*Session, error) {
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	s, err := transcript.Read(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return &Session{Name: name, Path: path, Data: data, host: s.Host, cwd: s.CWD}, nil
}

// HandOver is what is handed over when the context is compacted at a line of the
// file, as the product writes it. Where the file has that compaction, it is written in
// the knowledge of its summary.
func (s *Session) HandOver(cut int64, recorded bool, lang message.Lang) handover.Handover {
	data := s.Data[:cut]
	if recorded {
		data = s.Data
	}
	before := 0 // compactions before this one
	s.events(data, func(e *transcript.Event) {
		if e.Kind == transcript.Compacted && e.Off < cut {
			before++
		}
	})
	h := handover.Handover{Session: s.Name, Lang: lang}
	record, ordinal, from, past := handover.NewRecord(s.cwd), 1, int64(0), false
	s.events(data, func(e *transcript.Event) {
		switch {
		case past && e.Kind == transcript.Summarised && h.Summary == "":
			h.Summary = e.Text()
		case past:
		case e.Kind == transcript.Compacted && e.Off >= cut:
			past, h.Summary, h.Kept, h.Manual = true, e.Text(), e.Kept(), e.Trigger == "manual"
		case e.Off > cut:
		case e.Kind == transcript.Compacted:
			ordinal, from = ordinal+1, e.Off
		case ordinal <= before:
			record.Listen(e)
		default:
			record.Add(e, e.Off-from)
		}
	})
	h.ID, h.Record, h.Work = compact.PacketID(s.Name, ordinal), record, record.Work()
	if ordinal > 1 {
		h.Replaces = compact.PacketID(s.Name, ordinal-1)
	}
	return h
}

func (s *Session) events(data []byte, fn func(*transcript.Event)) {
	if _, err := transcript.Events(context.Background(), bytes.NewReader(data), 0, s.host, transcript.Want{}, fn); err != nil {
		panic(err) // bytes in memory
	}
}

// Task is what made-up sessions are about: two requests of the user, and what the agent
// says of the first.
type Task struct{ First, Second, Report string }

// Tasks are in the languages of the made-up sessions.
var Tasks = map[string]Task{
	"en":    {"Please add the total to the cart page.", "Please show the discount on the order page, too.", "The total is on the page."},
	"de":    {"Bitte zeige die Summe auf der Warenkorbseite an.", "Bitte zeige auch den Rabatt auf der Bestellseite an.", "Die Summe steht auf der Seite."},
	"fr":    {"Ajoute le total sur la page du panier, s'il te plaît.", "Affiche aussi la remise sur la page de commande.", "Le total est sur la page."},
	"es":    {"Añade el total en la página del carrito, por favor.", "Muestra también el descuento en la página del pedido.", "El total está en la página."},
	"ja":    {"カートのページに合計を表示してください。", "注文のページに割引も表示してください。", "ページに合計を表示しました。"},
	"ru":    {"Добавь, пожалуйста, сумму на страницу корзины.", "Покажи ещё скидку на странице заказа.", "Сумма теперь на странице."},
	"zh-TW": {"請在購物車頁面加上總計。", "請在訂單頁面也顯示折扣。", "總計已經顯示在頁面上。"},
	"zh-CN": {"请在购物车页面加上总计。", "请在订单页面也显示折扣。", "总计已经显示在页面上。"},
}

// Script writes a made-up session of Claude Code.
type Script struct {
	out bytes.Buffer
	n   int
}

const scriptDir = "/work/shop"

func (s *Script) line(kind string, content any) {
	s.n++
	b, err := json.Marshal(map[string]any{
		"type": kind, "uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", s.n), "sessionId": "made-up", "cwd": scriptDir, "isSidechain": false,
		"timestamp": time.Date(2026, 3, 1, 9, 0, s.n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"),
		"message":   map[string]any{"role": kind, "content": content},
	})
	if err != nil {
		panic(err) // maps of strings
	}
	s.out.Write(append(b, '\n'))
}

// User is a prompt.
func (s *Script) User(text string) { s.line("user", text) }

// Agent is a text of the agent.
func (s *Script) Agent(text string) {
	s.line("assistant", []any{map[string]any{"type": "text", "text": text}})
}

// call is a call of a tool with its result.
func (s *Script) call(name string, input map[string]any, result string, failed bool) {
	id := fmt.Sprintf("toolu_%06d", s.n)
	s.line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}})
	s.line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}})
}

// Reject is an edit that the user refuses, with words of his or without.
func (s *Script) Reject(words string) {
	text := "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	if words == "" {
		text += "STOP what you are doing and wait for the user to tell you how to proceed."
	} else {
		text += "To tell you how to proceed, the user said:\n" + words
	}
	s.call("Edit", map[string]any{"file_path": scriptDir + "/shop/price.py", "old_string": "a", "new_string": "b"}, text, true)
}

// Ask is a question by tool, and its answer.
func (s *Script) Ask(question, answer string) {
	s.call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": question, "header": "Choice", "multiSelect": false, "options": []any{
		map[string]any{"label": "Yes", "description": "Go ahead"}, map[string]any{"label": "No", "description": "Leave it"},
	}}}}, fmt.Sprintf("User has answered your questions: %q=%q. You can now continue with the user's answers in mind.", question, answer), false)
}

// Edit is an edit of a file in the session's folder.
func (s *Script) Edit(file string) {
	s.call("Edit", map[string]any{"file_path": scriptDir + "/" + file, "old_string": "total = 0", "new_string": "total = Decimal(0)"}, "The file has been updated.", false)
}

// Run is a command, what it printed and whether it failed.
func (s *Script) Run(command, output string, failed bool) {
	s.call("Bash", map[string]any{"command": command}, output, failed)
}

// Plan is a list of steps: those that are done, and those that are left.
func (s *Script) Plan(done []string, open ...string) {
	var list []any
	for i, step := range slices.Concat(done, open) {
		status := "pending"
		if i < len(done) {
			status = "completed"
		}
		list = append(list, map[string]any{"content": step, "status": status, "activeForm": step})
	}
	s.call("TodoWrite", map[string]any{"todos": list}, "Todos have been modified successfully.", false)
}

// Bytes is the session's file.
func (s *Script) Bytes() []byte { return s.out.Bytes() }
