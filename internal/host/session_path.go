package host

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// SessionPath is where the host looks for a session that was started in a folder:
// dir is the host's own folder, name that of the session's file elsewhere.
func (h *Host) SessionPath(dir, folder, name string) string {
	if h.Sessions.Prefix == "" {
		return filepath.Join(dir, h.Sessions.Dir, projectFolder(folder), name)
	}
	// rollout-2006-01-02T15-04-05-<id>.jsonl lies in the folder of its day.
	day := strings.TrimPrefix(name, h.Sessions.Prefix)
	if len(day) < 10 || strings.Trim(day[:10], "0123456789-") != "" || day[4] != '-' || day[7] != '-' {
		day = "1970-01-01"
	}
	return filepath.Join(dir, h.Sessions.Dir, day[:4], day[5:7], day[8:10], name)
}

// projectFolder is Claude Code's name for a folder: every byte that is neither a
// letter nor a digit becomes a hyphen, and the end of a long name its hash.
func projectFolder(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, folder)
	if len(name) <= longFolder {
		return name
	}
	hash := int32(0)
	for _, c := range utf16.Encode([]rune(folder)) {
		hash = hash*31 + int32(c)
	}
	return name[:longFolder] + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// longFolder is the longest name without a hash.
const longFolder = 200
