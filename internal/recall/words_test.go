package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// writings are messages, and other ways to write what finds them. Each is planted
// once among texts with the same words in other places, so that a word is known and
// is not taken for a slip.
var writings = []struct {
	name, text string
	asks       []string
}{
	{"simplified", "登录后会话缓存没有刷新，计划改用账号版本号。", []string{"登錄後會話緩存", "緩存沒有刷新", "計畫改用帳號", "計劃 版本號", "会话缓存", "账号版本号"}},
	{"traditional", "這裡的後臺執行緒會覆寫設定檔，請瞭解並回覆。", []string{"这里的后台", "后台执行", "回复", "了解并回复", "後台執行緒", "這裏的後臺"}},
	{"wrong in the middle", "佇列滿載之後訊息會被丟棄。", []string{"佇烈滿載", "訊席會被丟棄", "佇列的滿載", "滿載後訊息被丟棄", "佇列滿載的訊息"}},
	{"one character", "昨天修好了那隻貓。", []string{"貓", "猫"}},
	{"korean", "설정이 자동으로 변경되었습니다.", []string{"설정을 변경했다", "변경된 설정", "자동 변경"}},
	{"japanese", "接続を切り替えた後にログを確認した。", []string{"接続が切り替わる", "ログの確認", "接続を切替えた"}},
	{"russian", "Миграции удалили лишние таблицы из резервной базы.", []string{"миграция удалила таблицу", "резервная база", "удаление таблиц миграцией", "лишняя таблица"}},
	{"russian slips", "Проверка восстановлением резервной копии завершена.", []string{"востановлением", "восстанавлением завершена", "прверка завершина"}},
	{"accents", "Le café résumé a été déplacé près du Zürich naïf.", []string{"cafe resume deplace", "zurich naif", "cafe\u0301 re\u0301sume\u0301"}},
	{"full width", "呼叫 ＡＰＩ＿ＫＥＹＳ 之前先登入 ２０２６", []string{"api keys 2026", "API 登入"}},
	{"colours", "go test: \x1b[31munresolved import\x1b[0m in \x1b[1;32mwalrus\x1b[m", []string{"unresolved", "unresolved walrus"}},
	{"direction", "ההגדרה של הזיכרון \u202eהפוכה\u202c נשמרה", []string{"הזיכרון נשמרה", "הגדרה הפוכה הזיכרון"}},
	{"arabic", "تم حفظ الإعدادات في الملف الجديد", []string{"حفظ الإعدادات", "الملف الجديد"}},
	{"short hash", "the culprit is 7be41f9a, reverted", []string{"7be41f9a02c4d6e8f00112233445566778899aab", "7be41f9"}},
}

func TestFindsOtherWritings(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	for n := range 5 {
		c.file(t, n, 20<<10)
	}
	for n := range 6 {
		plant(t, c, 50+n, fmt.Sprintf("設定 缓存 貓 миграция таблица база 변경 설정값 接続 確認 commit 7be41f9 number%d", n))
	}
	for i, w := range writings {
		want := plant(t, c, 100+i, w.text)
		for _, ask := range w.asks {
			res := search(t, c.open(), ask)
			at := slices.Index(paths(res), want)
			if at < 0 || at > 2 && w.name != "one character" && w.name != "short hash" {
				t.Errorf("%s: %q: place %d of %d", w.name, ask, at+1, res.Total)
				continue
			}
			h := res.Hits[at]
			if strings.ContainsFunc(h.Snippet, func(r rune) bool { return unicode.IsControl(r) || r == 0x202e }) {
				t.Errorf("%s: %q: %q steers a terminal", w.name, ask, h.Snippet)
			}
			for _, m := range h.Marks {
				if !utf8.ValidString(h.Snippet[m[0]:m[1]]) {
					t.Errorf("%s: %q: a mark cuts a character of %q", w.name, ask, h.Snippet)
				}
			}
			if len(h.Marks) == 0 {
				t.Errorf("%s: %q: nothing is marked in %q", w.name, ask, h.Snippet)
			}
		}
	}
}

// A character is folded into one that is not folded itself, and no Japanese or
// other letter is.
func TestFoldHan(t *testing.T) {
	t.Parallel()
	s := newScanner()
	folded := 0
	for r := rune(0x2E80); r < 0xA000; r++ {
		f := s.simple(r)
		if f != r {
			folded++
		}
		if s.simple(f) != f || utf8.RuneLen(f) != utf8.RuneLen(r) {
			t.Errorf("%c becomes %c, and that %c", r, f, s.simple(f))
		}
	}
	if folded < 2800 {
		t.Errorf("%d characters are folded", folded)
	}
	for _, pair := range []string{"後后", "裡里", "裏里", "臺台", "畫划", "發发", "髮发", "帳帐", "账帐", "着著", "ああ", "한한"} {
		r := []rune(pair)
		if got := s.simple(r[0]); got != r[1] {
			t.Errorf("%c becomes %c, want %c", r[0], got, r[1])
		}
	}
}

func TestStemRussian(t *testing.T) {
	t.Parallel()
	for _, family := range []string{
		"настройка настройки настройке настройку настройкой настройками", "файл файла файлу файлом файлы файлов файлам",
		"таблица таблицы таблицу таблице таблиц таблицами", "удалил удалила удалили удалить", "резервная резервной резервную резервные резервных",
		"конфигурация конфигурации конфигурацию конфигурацией", "проверять проверял проверяла проверяли", "быстрый быстрая быстрого быстрее",
	} {
		words := strings.Fields(family)
		want := string(term([]byte(words[0])))
		for _, w := range words {
			got := string(term([]byte(w)))
			if got != want {
				t.Errorf("%s is kept as %s, want %s as %s", w, got, want, words[0])
			}
			if !utf8.ValidString(got) || got == "" {
				t.Errorf("%s is kept as %q", w, got)
			}
		}
	}
}

// The title that a shell sets takes nothing behind it along.
func TestLegible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b]0;shop\x07 cannot open walrus.db \x1b[31mred\x1b[0m": " cannot open walrus.db red",
		"a\rb\x1b[1mc\x1b[m\u202ed":                                "a bcd",
	} {
		if got := legible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
