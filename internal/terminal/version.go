package terminal

import (
	"runtime"
	"runtime/debug"
)

// Version is the product's version; releases set it at link time.
var Version = "0.1.0"

// Build is what a program knows of its making.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	// Modified: there were changes that the commit does not have.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild is that of the running program.
func ThisBuild() Build {
	b := Build{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is one line: 0.1.0 (abc1234, modified).
func (b Build) String() string {
	v := b.Version
	if len(b.Commit) >= 7 {
		v += " (" + b.Commit[:7]
		if b.Modified {
			v += ", modified"
		}
		v += ")"
	}
	return v
}
