package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size as people read it, in decimal units.
func Bytes(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "B" || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, unit)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// Thousands is a number with separators.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rounded is a large number as people read it.
func Rounded(n int64) string {
	switch {
	case n >= 1_000_000_000:
		return fmt.Sprintf("%.1fG", float64(n)/1e9)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return Thousands(int(n))
}

// Decimal is a number with one decimal where that says something.
func Decimal(n float64) string {
	if n >= 9.95 {
		return Thousands(int(n + 0.5))
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
}

// Percent is a share in whole percent, a dash of nothing.
func Percent(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (n*200+of)/(2*of))
}

// Change is by how much a size is another, in whole percent: −40%, +3%. What is left of
// something is not nothing, so there is no −100% of it.
func Change(before, after int) string {
	if before == 0 {
		return "±0%"
	}
	n := (200*(before-after) + before) / (2 * before)
	switch {
	case after > before:
		return fmt.Sprintf("+%d%%", (200*(after-before)+before)/(2*before))
	case n == 0:
		return "±0%"
	case after > 0:
		n = min(n, 99)
	}
	return fmt.Sprintf("−%d%%", n)
}

// Dollars is a sum of money.
func Dollars(usd float64) string {
	n, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
	i, _ := strconv.Atoi(n)
	return "$" + Thousands(i) + "." + cents
}

// Span is how long something took, in its two largest units.
func Span(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}

// Age is how long ago something was, in its largest unit.
func Age(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
