package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	sub, err := s.find(r.Context(), r.URL.Query().Get("id"))
	if err == nil && sub.file == nil {
		err = errNotFound
	}
	if err == nil {
		err = s.sessionPage(r.Context(), &page, sub, s.lang(r))
	}
	if err != nil {
		s.json(func(*http.Request) (any, error) { return nil, err }).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // a reader that has gone needs nothing
}

// ExportSession writes a session as one HTML file that opens anywhere: it runs no script
// and loads nothing, and everything from the session is text in it, without its secrets.
func (s *Server) ExportSession(ctx context.Context, w io.Writer, file transcript.File) error {
	sub, err := s.find(ctx, file.ID)
	if err != nil || sub.file == nil || sub.file.Path != file.Path {
		sub.file = &Row{File: file} // no list has it
	}
	return s.sessionPage(ctx, w, sub, s.Lang)
}

type sessionPage struct {
	out, tools bytes.Buffer
	texts      map[string]string
	// calls are the names of the tools that wait for their fold to end, bad is how many of
	// them failed, last the kind of the last piece.
	calls       []string
	last        string
	bad         int
	compactions int
}

func (s *Server) sessionPage(ctx context.Context, w io.Writer, sub subject, lang message.Lang) error {
	d, err := s.detail(ctx, sub, lang)
	if err != nil {
		return err
	}
	given := map[int]bool{}
	for _, c := range d.Compactions {
		given[c.N] = c.Packet != nil
	}
	p := sessionPage{texts: message.DashboardTexts(lang)}
	surveys, err := catalog.Surveys(ctx, sub.file.File, s.Tongue)
	if err != nil {
		return err
	}
	err = transcript.EventsIn(ctx, sub.file.Path, 0, math.MaxInt64, transcript.Want{Thoughts: true}, func(e *transcript.Event) {
		most := maxShown
		if e.Kind == transcript.ToolBegan || e.Kind == transcript.ToolEnded {
			most = maxPiece
		}
		v, ok := pieceOf(e, most)
		switch {
		case !ok:
		case v.Kind != "compacted":
			p.piece(v)
		case p.compactions < len(surveys): // else it has happened since
			found := surveys[p.compactions]
			p.compactions++
			p.compaction(v, surveyOf(found), given[p.compactions])
		}
	})
	if err != nil {
		return err
	}
	p.endTools()
	_, err = io.WriteString(w, page("session.html", "lang", htmlLang(lang), "title", text(cmp.Or(sub.file.Title, sub.id)), "style", asset("static/style.css"),
		"host", text(string(sub.file.Host)), "project", text(s.Shown(sub.file.Project)), "model", text(d.Context.Model),
		"note", p.t("exportNote", s.Now().Format("2006-01-02 15:04")), "id", text(sub.id), "pieces", p.out.String()))
	return err
}

// piece writes what was said; tools that follow one another are one fold.
func (p *sessionPage) piece(v piece) {
	said := `<div class="said">` + text(v.Text) + `</div>`
	if v.Cut > 0 {
		said += `<p class="quiet">` + p.t("cutN", message.Thousands(v.Cut)) + `</p>`
	}
	switch v.Kind {
	case "call", "result", "host", "thought":
		if v.Kind == "call" {
			p.calls = append(p.calls, v.Tool)
		}
		p.last = v.Kind
		bad := ""
		if v.Bad {
			p.bad++
			bad = " bad"
		}
		tag(&p.tools, `<div class="tool `, v.Kind, bad, `"><small>`, p.t("piece."+v.Kind), ` `, text(v.Tool), `</small>`, said, "</div>\n")
		return
	}
	p.endTools()
	if v.Kind == "summary" {
		tag(&p.out, `<li class="piece summary"><details><summary>`, p.t("piece."+v.Kind), `</summary>`, said, "</details></li>\n")
		return
	}
	how := ""
	if v.How != "" {
		how = `<span class="badge">` + p.t("said."+v.How) + `</span> `
	}
	tag(&p.out, `<li class="piece `, v.Kind, `"><p class="chips"><b>`, p.t("piece."+v.Kind), `</b> `, how, `<time>`, moment(v.Time), `</time></p>`, said, "</li>\n")
}

func (p *sessionPage) endTools() {
	if p.tools.Len() == 0 {
		return
	}
	tag(&p.out, `<li class="piece tools"><details><summary>`)
	if len(p.calls) == 0 {
		tag(&p.out, p.t("piece."+p.last))
	}
	for n := 0; len(p.calls) > 0; {
		name := p.calls[0]
		n, p.calls = len(p.calls), slices.DeleteFunc(p.calls, func(c string) bool { return c == name })
		tag(&p.out, `<code>`, text(message.Short(name, 40)), `</code> `)
		if n -= len(p.calls); n > 1 {
			tag(&p.out, `×`, strconv.Itoa(n), ` `)
		}
	}
	if p.bad > 0 {
		tag(&p.out, ` <span class="badge bad">`, p.t("badN", strconv.Itoa(p.bad)), `</span>`)
	}
	tag(&p.out, "</summary>\n", p.tools.String(), "</details></li>\n")
	p.tools.Reset()
	p.bad = 0
}

// compaction is a bar across the page: what the summary kept and lacked, what was handed
// over, and both texts whole.
func (p *sessionPage) compaction(v piece, found survey, given bool) {
	p.endTools()
	handed, handover := "wouldHand", "wouldHandover"
	if given {
		handed, handover = "handed", "handover"
	}
	tag(&p.out, `<li class="piece compacted"><details><summary><b>`, p.t("compactedHere", strconv.Itoa(p.compactions)), `</b> <time>`, moment(v.Time), `</time></summary><div class="kept">`)
	for _, list := range []struct {
		title, kind string
		names       []string
		more        int
	}{{"kept", "good", found.Kept, 0}, {handed, "mid", found.Handed, found.HandedMore}, {"lost", "bad", found.Lost, found.LostMore}} {
		tag(&p.out, `<div class="names `, list.kind, `"><h5>`, p.t(list.title), ` <small>`, strconv.Itoa(len(list.names)), `</small></h5><ul>`)
		for _, name := range list.names {
			tag(&p.out, `<li><code>`, text(name), `</code></li>`)
		}
		tag(&p.out, `</ul>`)
		if list.more > 0 {
			tag(&p.out, `<p class="quiet">`, p.t("lessLikely", message.Thousands(list.more)), `</p>`)
		}
		tag(&p.out, `</div>`)
	}
	tag(&p.out, `</div>`)
	if found.Kept == nil {
		tag(&p.out, `<p class="quiet">`, p.t(map[bool]string{true: "summaryUnread", false: "nothingBefore"}[found.Summary == ""]), `</p>`)
	}
	for _, part := range [][2]string{{handover, found.Text}, {"summary", found.Summary}} {
		if part[1] != "" {
			tag(&p.out, `<h5>`, p.t(part[0]), `</h5><pre>`, text(part[1]), `</pre>`)
		}
	}
	tag(&p.out, "</details></li>\n")
}

// t is a text of the page, with its values.
func (p *sessionPage) t(name string, values ...string) string {
	s := html.EscapeString(p.texts[name])
	for i, v := range values {
		s = strings.ReplaceAll(s, "{"+strconv.Itoa(i)+"}", v)
	}
	return s
}

// moment is a time as a page without a script can show it, for readers anywhere.
func moment(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// tag writes markup; what comes from a session goes through [text] first.
func tag(b *bytes.Buffer, parts ...string) {
	for _, s := range parts {
		b.WriteString(s)
	}
}

// text is what anybody wrote, so that a browser shows it and nothing else.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s))
}
