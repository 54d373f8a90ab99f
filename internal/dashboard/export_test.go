package dashboard

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
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
