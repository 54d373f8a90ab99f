package dashboard

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What a session holds is data in an exported page: no title can end the script that
// carries it, and nothing is loaded from anywhere.
func TestExport(t *testing.T) {
	t.Parallel()
	for _, l := range []message.Lang{message.EN, message.ZH} {
		page, err := Export(map[string]any{"title": "</script><script>alert(1)</script><b>"}, l)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script>alert", "<b>", "src=", "href=\"http", "from './"} {
			if strings.Contains(string(page), bad) {
				t.Errorf("%s: the page holds %q", l, bad)
			}
		}
		if !strings.Contains(string(page), `alert(1)`) {
			t.Errorf("%s: the report is missing", l)
		}
	}
}

// A session's page holds all that was said, as text and without secrets; of a compaction it
// has the names that `compact packet` tells, and the whole summary.
func TestExportSession(t *testing.T) {
	t.Parallel()
	v := serve(t)
	const evil = `</style></title></pre><script>alert(1)</script><img src=x onerror=alert(1)>"'&\x1b[2J`
	said := func(n int, more, text string) string {
		return fmt.Sprintf(`{"type":"user",%s"uuid":"u%d","timestamp":"2026-01-01T00:%02d:00.000Z","cwd":"/w","message":{"role":"user","content":%q}}`, more, n, n, text)
	}
	v.write("s1",
		said(1, "", "Mend `parseHeader` and `readBody`; "+evil),
		`{"type":"assistant","uuid":"a2","timestamp":"2026-01-01T00:02:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"a thought <b>"},{"type":"text","text":"I see."},{"type":"tool_use","id":"t1","name":"Ba<i>sh","input":{"command":"cat <b>"}}]}}`,
		`{"type":"user","uuid":"u3","timestamp":"2026-01-01T00:03:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"`+strings.Repeat("long ", 2000)+`"}]}}`,
		fmt.Sprintf(boundaryLine, 1, 4),
		said(5, `"isCompactSummary":true,`, "Mended parseHeader. The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a. "+evil),
		said(6, "", "go on"))
	rows, err := v.rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := rows[0].File
	var out bytes.Buffer
	if err := v.ExportSession(t.Context(), &out, file); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	status, body, header := v.ask("/api/export?id=s1", nil)
	stamp := regexp.MustCompile(`\d\d:\d\d <code>`)
	if status != http.StatusOK || stamp.ReplaceAllString(string(body), "") != stamp.ReplaceAllString(page, "") || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		t.Errorf("the page and the command write different files: %d", status)
	}
	if status, _, _ := v.ask("/api/export?id=none", nil); status != http.StatusNotFound {
		t.Errorf("no session: %d", status)
	}
	for _, bad := range []string{"<script", "<img", "<b>cat", "cat <b", "<i>", "\x1b", "292c6912", "href=", "url(", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"Mend `parseHeader`", "&lt;script&gt;", "a thought &lt;b&gt;", "Ba&lt;i&gt;sh", "<code>Ba&lt;i&gt;sh</code>", "1 failed", "of 10,000 characters", "go on", "Mended parseHeader."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	s, err := catalog.NewSurvey(t.Context(), file, 1, v.Tongue)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`<li><code>(.*?)</code></li>`).FindAllStringSubmatch(page, -1) {
		names = append(names, html.UnescapeString(m[1]))
	}
	want := slices.Concat(s.States, s.Lacks)
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(names)), want) || len(want) == 0 {
		t.Errorf("columns %q, the survey has %q", names, want)
	}
	if !strings.Contains(page, "<pre>"+text(s.Text)+"</pre>") {
		t.Error("the hand-over is missing")
	}
	if err := v.ExportSession(t.Context(), &out, transcript.File{ID: "s1", Path: file.Path + "x", Host: file.Host}); err == nil {
		t.Error("a file that is not there was written")
	}
}
