#!/bin/sh
# Writes the shells' completions and the manual pages into the two folders that are named.
set -eu
dir=$1 man=$2
mkdir -p "$dir" "$man"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# Built with the caches at hand; only the program itself runs in a home of its own.
CGO_ENABLED=0 GOOS= GOARCH= go build -o "$home/" ./cmd/overtone ./cmd/overtone-team
for shell in bash zsh fish powershell; do
	case $shell in bash) file=overtone.bash ;; zsh) file=_overtone ;; fish) file=overtone.fish ;; *) file=overtone.ps1 ;; esac
	HOME=$home LANG=C "$home/overtone" completion $shell >"$dir/$file"
done
for program in overtone overtone-team; do
	HOME=$home LANG=C "$home/$program" man >"$man/$program.1"
done
