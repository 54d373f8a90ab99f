package extract

import "testing"

// TestRules: rules in the languages of the lists, and what only sounds like one.
func TestRules(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]Hold{
		"we don't use tabs in these files":                     Lasting,
		"Only touch the files of the shop.":                    Lasting,
		"stop using the old client":                            Lasting,
		"the archive is read-only":                             Lasting,
		"hands off the lock file":                              Lasting,
		"Every new page needs a title.":                        Lasting,
		"Bitte keine weiteren Pakete.":                         Lasting,
		"On ne supprime jamais de lignes.":                     Lasting,
		"No toques la tabla de pedidos.":                       Lasting,
		"設定は絶対に変えないでください":                                      Lasting,
		"Больше не меняй схему.":                               Lasting,
		"绝对不要直接写入数据库":                                          Lasting,
		"Nichts löschen ohne meine Zustimmung.":                Guard,
		"No commit without my word.":                           Guard,
		"Is the archive read-only?":                            Free,
		"Est-ce qu'on ne supprime jamais de lignes ?":          Free,
		"the page says “never close this window” at its start": Free,
		"文件寫「不得關閉」":                                            Free,
	} {
		if got := Holds(sentence); got != want {
			t.Errorf("%q: %d, want %d", sentence, got, want)
		}
	}
}

// TestProposal: what a short answer refers to stands at the end of a message, under its
// last heading, or behind a number.
func TestProposal(t *testing.T) {
	t.Parallel()
	text := "I have looked at it.\n\n## Options\n\n1. Keep it\n2. Drop it\n\n## Best: split the parser\n\nThe lexer moves to [lex.go](src/lex.go:3).\n\nShall I do that? It takes an hour."
	if got, want := Proposal(text, 400), "Best: split the parser … The lexer moves to lex.go. Shall I do that? It takes an hour."; got != want {
		t.Errorf("%q", got)
	}
	if o := Options(text); o["2"] != "Drop it" || len(o) != 2 {
		t.Errorf("%v", o)
	}
	for own, want := range map[string]string{"let's fix 3 too": "3", "yes, and then number 12": "12", "wait 3 seconds": "", "the second one": "2", "b": "b"} {
		if got := Chosen(own); got != want {
			t.Errorf("%q names %q", own, got)
		}
	}
}

// TestAnnounces: an agent that says what comes next is at work.
func TestAnnounces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The first page is done. Next, the second.": true, "Nun folgt die zweite Seite.": true, "Je vais relire le second.": true, "Теперь перехожу к тестам.": true, "次に二つ目を直します。": true,
		"The first page is done.": false, "The next page shows the total.": false,
	} {
		if got := Announces(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"Attends que le build soit fini.", "Das war's für heute.", "C'est tout, merci.", "ここまでにしましょう", "На сегодня всё.", "先到這邊吧"} {
		if !Stops(text) {
			t.Errorf("%q does not stop", text)
		}
	}
}
