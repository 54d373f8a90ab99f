package compress

import (
	"context"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

var TuneVars = map[string]*int{
	"path": &worth.fact[extract.Path], "url": &worth.fact[extract.URL], "hash": &worth.fact[extract.Hash], "number": &worth.fact[extract.Number], "ident": &worth.fact[extract.Identifier],
	"codef": &worth.fact[extract.Code], "errline": &worth.fact[extract.ErrorLine], "quantity": &worth.quantity, "digit": &worth.digit, "decision": &worth.decision,
	"user": &worth.user, "rate": &worth.rate, "opening": &worth.opening, "asked": &worth.asked, "ask": &worth.ask, "closing": &worth.closing, "trouble": &worth.trouble, "done": &worth.done,
	"wordShare": &worth.wordShare, "wordMost": &worth.wordMost, "again": &worth.again, "later": &worth.later, "code": &worth.code, "floor": &worth.floor, "lead": &worth.lead, "least": &worth.least, "room": &worth.room,
}

func TuneSelect(texts []string, users []bool, percent int) []string {
	jobs := make([]job, len(texts))
	for i := range jobs {
		jobs[i].Role = "assistant"
		if users[i] {
			jobs[i].Role = "user"
		}
	}
	p, err := Builtin{}.prepare(context.Background(), jobs, func(job) int { return percent }, func(i int) (string, error) { return texts[i], nil })
	if err != nil {
		panic(err)
	}
	out := make([]string, len(texts))
	for i := range out {
		r, err := p.Compress(context.Background(), Request{Text: texts[i], job: i})
		if err != nil {
			panic(err)
		}
		out[i] = r.Text
	}
	return out
}
