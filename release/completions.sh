#!/bin/sh
# Writes the shells' completions into the folder that is named.
set -eu
dir=$1
mkdir -p "$dir"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# Built with the caches at hand; only the program itself runs in a home of its own.
CGO_ENABLED=0 GOOS= GOARCH= go build -o "$home/" ./cmd/overtone
for shell in bash zsh fish powershell; do
	case $shell in bash) file=overtone.bash ;; zsh) file=_overtone ;; fish) file=overtone.fish ;; *) file=overtone.ps1 ;; esac
	HOME=$home LANG=C "$home/overtone" completion $shell >"$dir/$file"
done
