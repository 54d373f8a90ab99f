package recall

import "strings"

// Endings of Russian words, as in Snowball's stemmer. Those of the first kind only
// count behind а or я.
var (
	gerunds1     = [...]string{"вшись", "вши", "в"}
	gerunds2     = [...]string{"ившись", "ывшись", "ивши", "ывши", "ив", "ыв"}
	adjectives   = [...]string{"ими", "ыми", "его", "ого", "ему", "ому", "ее", "ие", "ые", "ое", "ей", "ий", "ый", "ой", "ем", "им", "ым", "ом", "их", "ых", "ую", "юю", "ая", "яя", "ою", "ею"}
	participles1 = [...]string{"ем", "нн", "вш", "ющ", "щ"}
	participles2 = [...]string{"ивш", "ывш", "ующ"}
	verbs1       = [...]string{"ете", "йте", "ешь", "нно", "ла", "на", "ли", "ем", "ло", "но", "ет", "ют", "ны", "ть", "й", "л", "н"}
	verbs2       = [...]string{"ейте", "уйте", "ила", "ыла", "ена", "ите", "или", "ыли", "ило", "ыло", "ено", "ует", "уют", "ены", "ить", "ыть", "ишь", "ей", "уй", "ил", "ыл", "им", "ым", "ен", "ят", "ит", "ыт", "ую", "ю"}
	nouns        = [...]string{"иями", "иях", "ями", "ами", "ией", "иям", "ием", "ев", "ов", "ие", "ье", "еи", "ии", "ей", "ой", "ий", "ям", "ем", "ам", "ом", "ах", "ях", "ию", "ью", "ия", "ья", "а", "е", "и", "й", "о", "у", "ы", "ь", "ю", "я"}
	superlatives = [...]string{"ейше", "ейш"}
)

// russian shortens a word of the letters а to я by its endings: настройка,
// настройки and настроек are asked for alike.
func russian(w []byte) []byte {
	s := string(w)
	at := strings.IndexAny(s, vowels)
	if at < 0 {
		return w
	}
	// What stands before and in the first syllable is no ending.
	head, rest := s[:at+2], s[at+2:]
	if t, ok := without(rest, gerunds1[:], true); ok {
		rest = t
	} else if t, ok := without(rest, gerunds2[:], false); ok {
		rest = t
	} else {
		rest = inflection(strings.TrimSuffix(strings.TrimSuffix(rest, "ся"), "сь"))
	}
	rest = strings.TrimSuffix(rest, "и")
	if t, ok := without(rest, []string{"ость", "ост"}, false); ok && len(head)+len(t) >= 10 {
		rest = t
	}
	rest, _ = without(rest, superlatives[:], false)
	if strings.HasSuffix(rest, "нн") {
		rest = strings.TrimSuffix(rest, "н")
	}
	rest = strings.TrimSuffix(rest, "ь")
	return w[:len(head)+len(rest)]
}

const vowels = "аеиоуыэюя"

// inflection takes the ending of an adjective, a verb or a noun away.
func inflection(s string) string {
	if t, ok := without(s, adjectives[:], false); ok {
		if u, ok := without(t, participles2[:], false); ok {
			return u
		}
		t, _ = without(t, participles1[:], true)
		return t
	}
	t, first := without(s, verbs1[:], true)
	u, second := without(s, verbs2[:], false)
	switch {
	case second && (!first || len(u) < len(t)):
		return u
	case first:
		return t
	}
	s, _ = without(s, nouns[:], false)
	return s
}

// without takes the first of the endings away that s has; the longer ones stand
// first. behind asks for а or я before it.
func without(s string, endings []string, behind bool) (string, bool) {
	for _, e := range endings {
		if t, ok := strings.CutSuffix(s, e); ok && (!behind || strings.HasSuffix(t, "а") || strings.HasSuffix(t, "я")) {
			return t, true
		}
	}
	return s, false
}

// cyrillic says whether a word has letters of а to я only.
func cyrillic(w []byte) bool {
	if len(w)%2 != 0 {
		return false
	}
	for i := 0; i < len(w); i += 2 {
		switch c := w[i+1]; {
		case w[i] == 0xD0 && c >= 0xB0 && c <= 0xBF, w[i] == 0xD1 && c >= 0x80 && c <= 0x8F:
		default:
			return false
		}
	}
	return len(w) > 0
}
