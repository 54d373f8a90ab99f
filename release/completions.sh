#!/bin/sh
# Writes the shells' completions into the folder that is named.
set -eu
dir=$1
mkdir -p "$dir"
HOME=$(mktemp -d)
export HOME LANG=C
bin=$HOME/overtone
CGO_ENABLED=0 GOOS= GOARCH= GOFLAGS=-modcacherw GOPATH=${GOPATH:-$(go env GOPATH)} go build -o "$bin" ./cmd/overtone
"$bin" completion bash >"$dir/overtone.bash"
"$bin" completion zsh >"$dir/_overtone"
"$bin" completion fish >"$dir/overtone.fish"
"$bin" completion powershell >"$dir/overtone.ps1"
rm -rf "$HOME"
