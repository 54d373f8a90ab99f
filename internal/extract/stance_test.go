package extract

import (
	"slices"
	"strings"
	"testing"
)

// A word is a part of its text and no copy of it: a prompt may hold one of a megabyte,
// and copying it with each of its characters took seconds.
func TestAWordIsTakenAtOnce(t *testing.T) {
	allocs := func(n int) float64 {
		text := strings.Repeat("a1", n)
		return testing.AllocsPerRun(5, func() { Words(text) })
	}
	if one, two := allocs(1<<10), allocs(2<<10); two > one {
		t.Errorf("%v allocations, and %v for twice the length", one, two)
	}
	if got, want := Words("don't stop先停a1 é-續\xff"), []string{"don't", "stop", "先", "停", "a1", "é", "續"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"STOP": true, "stop, do nothing more": true, "Stop here. Do not delete anything.": true, "ok stop": true, "No, wait.": true, "please stop!": true,
		"hold on": true, "Wait, I want to think.": true, "no": true, "no thanks": true, "not yet": true, "Can you please stop?": true, "That's enough for today.": true,
		"Don't do anything until I am back.": true, "I'll review it tomorrow.": true, "leave it as it is": true, "never mind": true, "Thanks, that's all.": true,
		"停": true, "先停一下，不要再改了": true, "等等，我先看一下": true, "不用": true, "暂停": true, "ストップ": true, "やめて": true, "待って": true,
		"Стоп": true, "Подожди, пожалуйста": true, "больше ничего не делай": true, "Detente": true, "no hagas nada más": true, "Espera.": true, "Arrête.": true, "Halt, nichts mehr machen": true,
		"Fix the parser.": false, "continue": false, "Don't stop until the tests pass.": false, "Why did you stop?": false, "Stop the server before you run the migration, then start it again.": false,
		"yes": false, "Port the printer next.": false, "繼續": false, "請修正解析器": false, "次はプリンタを移植して": false, "Продолжай": false, "2": false,
	} {
		if got := Stops(text); got != want {
			t.Errorf("Stops(%q) = %v", text, got)
		}
	}
}

func TestWonders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"How many tests are there?": true, "what does this do": true, "Is it fast?": true, "Can you explain why it fails?": true, "I see an error in the log. Is that a problem?": true, "and why?": true,
		"為什麼要重構？": true, "測試過了嗎？": true, "これは何ですか": true, "¿Por qué falla?": true, "Почему он падает?": true,
		"Can you fix the parser?": false, "Fix the parser. Why is it red?": false, "Please port it.": false, "continue": false, "可以幫我修正嗎？": false, "Use tabs.": false, "": false,
	} {
		if got := Wonders(text); got != want {
			t.Errorf("Wonders(%q) = %v", text, got)
		}
	}
}

func TestUrges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"yes": true, "go on": true, "繼續": true, "ok, continue please": true, "2": true, "thanks": false, "ok": false, "great": false, "好": false} {
		if got := Urges(text); got != want {
			t.Errorf("Urges(%q) = %v", text, got)
		}
	}
}

func TestYields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		// asks
		"The slice is committed. Shall I run it against production now?": true, "Committed.\n\n**Do you want me to push it?**": true, "已提交。要現在部署嗎？": true, "¿Lo despliego ahora?": true, "Soll ich weitermachen?": true, "デプロイしますか": true,
		"Which one?\n\n1. By hand\n2. Generated": true,
		// waits
		"I will wait for your go-ahead before deploying.": true, "Decision needed: SQLite or Postgres.": true, "Awaiting your review.": true, "Ready for review.": true, "The migration is prepared. Let me know.": true, "Work is on hold pending approval.": true, "I need credentials; blocked until then.": true,
		"Standing by.": true, "Espero tu confirmación antes de continuar.": true, "承認をお待ちしています。": true, "ご確認ください。": true, "Жду вашего решения.": true, "Ожидаю подтверждения.": true, "J'attends la validation.": true, "Ich warte auf die Freigabe.": true, "Aguardo a aprovação.": true, "In attesa di conferma.": true, "等待確認後再部署。": true, "승인을 기다리고 있습니다.": true,
		"Here it is.\n<proposed_plan>\n- one\n</proposed_plan>\n" + "# Notes": true,
		// stopped
		"I have stopped. Nothing was deployed.": true, "已停止，沒有動任何檔案。": true, "Paused here.": true,
		// finished
		"All tasks are done.": true, "Everything is finished.": true, "全部完成。": true,
		// works
		"The slice is in place.": false, "The parser is done; the printer comes next.": false, "Step 2 of 4 is finished, moving on to the lexer.": false, "Next: the printer.": false, "解析器完成，接下來處理印表機。": false, "次はプリンタを移植します。": false,
		"Der Parser ist fertig, als Nächstes kommt der Drucker.": false, "Le parseur est porté, je passe au lexeur.": false, "Парсер готов, дальше принтер.": false, "El analizador está listo; sigo con la impresora.": false, "Done.": false, "Added input validation.": false,
	} {
		if got := Yields(text); got != want {
			t.Errorf("Yields(%q) = %v", text, got)
		}
	}
}

func TestOverrules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"forget the workflow and fix the typo", "do it yourself", "no more stages please", "skip the pipeline", "Just fix it without the workflow.", "不要走流程，直接改"} {
		if !Overrules(text) {
			t.Errorf("%q overrules", text)
		}
	}
	for _, text := range []string{"also add a test for empty input", "use tabs", "continue", "the reviewer is right, go on"} {
		if Overrules(text) {
			t.Errorf("%q does not overrule", text)
		}
	}
	for text, want := range map[string]bool{
		"continue": true, "go on": true, "繼續": true, "yes": true, "ok, use tabs and then go on": true, "請繼續做測試": true,
		"do not ask, go on": true, "no, go on": true, "yes, all": true, "go ahead with TEST": true, "我覺得可以，繼續": true, "2": true,
		"thanks": false, "what is left?": false, "use tabs": false, "do not go on": false, "should we continue with the review?": false, "stop": false,
		"before you continue, show me the diff": false, "no need to continue": false, "we can't go ahead with this": false, "once I approve you can continue": false, "you may continue after my review": false,
		"I'll continue from here": false, "let me continue this myself": false, "we'll continue on Monday": false, "if it is green, proceed": false, "don't proceed with TEST yet": false,
		"all good, thanks": false, "no thanks, all good": false, "all done": false, "no, none": false, "下週再繼續": false, "等我看完再繼續": false, "繼續之前先問我": false, "mach weiter, wenn ich da bin": false,
	} {
		if Resumes(text) != want {
			t.Errorf("%q resumes: %v", text, !want)
		}
	}
}
