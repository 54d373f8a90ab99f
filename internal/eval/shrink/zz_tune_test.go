package shrink

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type tfile struct {
	name  string
	texts []string
	users []bool
	facts [][][]string // msg, kind
}

func loadTune(t *testing.T, c corpus) (out []*tfile) {
	for _, f := range c.files {
		s, err := transcript.Read(context.Background(), copied(t, f))
		if err != nil {
			t.Fatal(err)
		}
		bands, _ := compress.ParseBands("0-100:compress")
		cfg := config.Defaults().Compress
		plan, err := compress.NewPlan(s, compress.Options{Bands: bands, Whole: true, MinTokens: cfg.MinTokens, Pool: compress.NewPool(cfg)})
		if err != nil {
			t.Fatal(err)
		}
		a := openFile(t, s.Path)
		tf := &tfile{name: f}
		for _, it := range plan.Items {
			x, _ := s.Raw(a, int(it.Entry))
			text := transcript.Text(x)
			tf.texts = append(tf.texts, text)
			tf.users = append(tf.users, it.User)
			var fs [][]string
			for _, k := range kinds {
				l := found(k, text, it.User)
				if k.whole {
					for i := range l {
						l[i] = squeeze(l[i])
					}
				}
				fs = append(fs, l)
			}
			tf.facts = append(tf.facts, fs)
		}
		a.Close()
		if len(tf.texts) > 0 {
			out = append(out, tf)
		}
	}
	return out
}

type tres struct {
	hard, soft, read, quant, errs float64
	path, code, ref               float64
	rem, den, size                float64
}

func evalTune(fs []*tfile, pc int, full bool) (r tres) {
	kept, all := make([]int, len(kinds)), make([]int, len(kinds))
	s := &score{kept: make([]int, len(kinds)), all: make([]int, len(kinds))}
	chars, total := 0, 0
	for _, f := range fs {
		res := compress.TuneSelect(f.texts, f.users, pc)
		for i := range f.texts {
			sq := squeeze(res[i])
			chars += len([]rune(res[i]))
			total += len([]rune(f.texts[i]))
			for k := range kinds {
				all[k] += len(f.facts[i][k])
				for _, x := range f.facts[i][k] {
					if kinds[k].whole && strings.Contains(sq, x) || !kinds[k].whole && has(kinds[k], res[i], x) {
						kept[k]++
					}
				}
			}
			if full {
				a, b := denials(f.texts[i], res[i])
				s.denied += a
				s.lost += b
				n, e := remnants(res[i])
				s.pieces += n
				s.rest += len(e)
			}
		}
	}
	sh := func(w func(kind) bool) float64 {
		k, a := 0, 0
		for i := range kinds {
			if w(kinds[i]) {
				k += kept[i]
				a += all[i]
			}
		}
		return percent(k, a)
	}
	nm := func(n string) float64 { return sh(func(k kind) bool { return k.name == n }) }
	return tres{sh(hard), sh(soft), sh(told), nm("quantity"), nm("error"), nm("path"), nm("code"), nm("reference"), percent(s.rest, s.pieces), percent(s.lost, s.denied), percent(chars, total)}
}

func (r tres) String() string {
	return fmt.Sprintf("size %.1f hard %.1f (path %.1f code %.1f ref %.1f q %.1f e %.1f) soft %.1f read %.1f rem %.1f den %.1f", r.size, r.hard, r.path, r.code, r.ref, r.quant, r.errs, r.soft, r.read, r.rem, r.den)
}

// objective: log sum, soft weights
func objective(a, b tres) float64 {
	l := math.Log
	return 3*l(a.hard) + 2*l(b.hard) + 0.5*l(a.soft) + 0.3*l(b.soft) + 1.5*l(a.read) + 0.8*l(b.read) + 0.1*l(a.quant) + 0.1*l(a.errs)
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	for _, kv := range strings.Fields(os.Getenv("SET")) {
		k, v, _ := strings.Cut(kv, "=")
		*compress.TuneVars[k], _ = strconv.Atoi(v)
	}
	for _, c := range corpora(t) {
		if !strings.Contains(os.Getenv("TUNE"), strings.Fields(c.name)[0]) {
			continue
		}
		fs := loadTune(t, c)
		a, b := evalTune(fs, 35, true), evalTune(fs, 10, true)
		fmt.Println(c.name, "\n 35:", a, "\n 10:", b)
		if c.name != "tuned on" || os.Getenv("SEARCH") == "" {
			continue
		}
		names := []string{}
		for n := range compress.TuneVars {
			names = append(names, n)
		}
		slices.Sort(names)
		if only := os.Getenv("ONLY"); only != "" {
			names = strings.Fields(only)
		}
		best := objective(a, b)
		for range 2 {
			for _, n := range names {
				p := compress.TuneVars[n]
				orig := *p
				bestV := orig
				for _, m := range []float64{0.6, 0.8, 1.25, 1.6} {
					*p = int(math.Round(float64(orig) * m))
					x, y := evalTune(fs, 35, false), evalTune(fs, 10, false)
					if o := objective(x, y); o > best+0.002 {
						best, bestV = o, *p
						fmt.Println(n, *p, o, x, y)
					}
				}
				*p = bestV
			}
		}
		for _, n := range names {
			fmt.Printf("%s=%d ", n, *compress.TuneVars[n])
		}
		fmt.Println()
		fmt.Println(c.name, "\n 35:", evalTune(fs, 35, true), "\n 10:", evalTune(fs, 10, true))
	}
}
