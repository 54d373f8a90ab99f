#!/bin/sh
# Builds here what a tag builds on CI with goreleaser, from the same list of platforms:
# archives with completions and bills of materials, checksums, the Homebrew formula, npm
# packages. It publishes and signs nothing: CI alone can show who built something. The
# same commit gives the same bytes. goreleaser itself is a large program that takes longer to build
# than all of this; TestRelease keeps the two of them alike.
#
#   [OUT=FOLDER] sh release/snapshot.sh [OS/ARCH …]        default: dist, all of them
set -eu
umask 022
export LC_ALL=C TZ=UTC
cd "$(dirname "$0")/.."
version=$(sed -n 's/^var Version = "\(.*\)"/\1/p' internal/terminal/version.go)-snapshot
vcs=$(git status --porcelain >/dev/null 2>&1 && echo auto || echo false)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}"
dist=${OUT:-dist}
rm -rf "$dist"
mkdir -p "$dist/homebrew/Formula"
dist=$(cd "$dist" && pwd)
sh release/completions.sh "$dist/completions"
: "${platforms:=$(sed -n 's/^ *goos: \[\(.*\)\]/\1/p' .goreleaser.yaml | tr -d ,)}"
archs=$(sed -n 's/^ *goarch: \[\(.*\)\]/\1/p' .goreleaser.yaml | tr -d ,)
all=""
for os in $platforms; do for arch in $archs; do all="$all $os/$arch"; done; done
[ $# -eq 0 ] || all=$*
binaries=""
for p in $all; do
	os=${p%/*} arch=${p#*/} exe=""
	[ "$os" != windows ] || exe=.exe
	dir=$dist/${os}_$arch
	mkdir -p "$dir/completions"
	for program in overtone overtone-hook overtone-team; do
		module=.
		[ $program != overtone-team ] || module=team
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -C $module -buildvcs="$vcs" -trimpath \
			-ldflags "-s -w -X github.com/seed-6d03985f/overtone/internal/terminal.Version=$version" -o "$dir/$program$exe" ./cmd/$program
	done
	node release/sbom.mjs "$version" "$dir/sbom" "$dir"/overtone*
	cp LICENSE README.md CHANGELOG.md "$dir"
	cp "$dist"/completions/* "$dir/completions"
	chmod -R u=rwX,go=rX "$dir"
	python3 release/pack.py "$dist/overtone_${version}_${os}_$arch" "$dir" "$SOURCE_DATE_EPOCH"
	binaries="$binaries $p=$dir"
	echo "$dist/overtone_${version}_${os}_$arch"
done
(cd "$dist" && sha256sum overtone_* >SHA256SUMS)
formula() { # os arch
	sum=$(sed -n "s/ .*overtone_${version}_$1_$2.tar.gz//p" "$dist/SHA256SUMS")
	[ -z "$sum" ] || printf '      url "https://github.com/seed-6d03985f/overtone/releases/download/v%s/overtone_%s_%s_%s.tar.gz"\n      sha256 "%s"\n' "$version" "$version" "$1" "$2" "$sum"
}
{
	cat <<RUBY
class Overtone < Formula
  desc "Keep long coding-agent work coherent"
  homepage "https://github.com/seed-6d03985f/overtone"
  version "$version"
  license "MIT"
RUBY
	for os in darwin linux; do
		[ $os = darwin ] && echo "  on_macos do" || echo "  on_linux do"
		echo "    on_intel do"; formula $os amd64; echo "    end"
		echo "    on_arm do"; formula $os arm64; echo "    end"
		echo "  end"
	done
	cat <<'RUBY'
  def install
    bin.install "overtone", "overtone-hook", "overtone-team"
    bash_completion.install "completions/overtone.bash" => "overtone"
    zsh_completion.install "completions/_overtone"
    fish_completion.install "completions/overtone.fish"
  end

  test do
    system bin/"overtone", "--version"
    system bin/"overtone-hook", "version"
  end
end
RUBY
} >"$dist/homebrew/Formula/overtone.rb"
# shellcheck disable=SC2086 # a list of words
node release/npm.mjs "$version" "$dist/npm" $binaries
