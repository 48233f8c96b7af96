#!/bin/sh
# Builds git-hydrate and puts it in place with its manual pages and completions. Can be run again at any time.
set -eu

usage() {
    cat <<'TEXT'
usage: ./install.sh [--prefix DIR] [--binary FILE] [--server REPO.git]... [--demo]
       ./install.sh [--binary FILE] --package DIR
       ./install.sh [--prefix DIR] --uninstall

  --prefix DIR       install below DIR, in place of ~/.local, or /usr/local for root
  --binary FILE      install this program, with git-remote-hydrate and git-hydrate-fetch beside it, in place of building them
  --server REPO.git  then have this repository hydrate what is pushed to it
  --demo             then push the bundled example to a server of its own, and show what comes of it
  --package DIR      write a static archive and a Debian package to DIR in place of installing: the same bytes each time
  --uninstall        take away what was installed below the prefix
TEXT
}

fail() {
    echo "error: $1" >&2
    exit "${2-1}"
}

# Makes a directory, and notes those that were not there: an uninstallation removes no others.
make() {
    [ ! -d "$1" ] || return 0
    make "$(dirname "$1")"
    mkdir "$1"
    made=$made$1$newline
}

# put FILE DESTINATION MODE: an old program may be running, so it is replaced, not overwritten.
put() {
    make "$(dirname "$2")"
    cp "$1" "$2.new"
    chmod "$3" "$2.new"
    mv -f "$2.new" "$2"
}

# fish finds completions of git-hydrate by itself; fish 3.6 does not find them for `git hydrate`.
fish_completes_git() {
    echo "complete -c git -f -n '__fish_git_using_command hydrate' -a '(__fish_git_complete_custom_command hydrate)'"
}

here=$(cd "$(dirname "$0")" && pwd)
prefix=${HOME-}/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
binary='' servers='' package='' made='' demo=no uninstall=no
newline='
'
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --binary | --server | --package) [ $# -gt 1 ] || fail "$1 needs a value" 2 ;;
    esac
    case $1 in
    --prefix) prefix=$2 && shift ;;
    --binary) binary=$2 && shift ;;
    --server) servers=$servers$2$newline && shift ;;
    --package) package=$2 && shift ;;
    --demo) demo=yes ;;
    --uninstall) uninstall=yes ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && fail "unknown argument: $1" 2 ;;
    esac
    shift
done
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM

if [ -n "$package" ]; then
    [ -z "$servers" ] && [ $demo$uninstall = nono ] || fail '--package goes with --binary only' 2
    . "$here/.ci/package.sh"
    exit
fi

mkdir -p "$prefix" 2>/dev/null && [ -w "$prefix" ] || fail "$prefix cannot be written; choose another --prefix, or use sudo"
prefix=$(cd "$prefix" && pwd)

program=$prefix/bin/git-hydrate
remote=$prefix/bin/git-remote-hydrate
fetch=$prefix/bin/git-hydrate-fetch
man=$prefix/share/man/man1
bash=$prefix/share/bash-completion/completions/git-hydrate
zsh=$prefix/share/zsh/site-functions/_git-hydrate
fish=$prefix/share/fish/vendor_completions.d/git-hydrate.fish
fish_git=$prefix/share/fish/vendor_conf.d/git-hydrate.fish
noted=$prefix/share/git-hydrate/directories

if [ $uninstall = yes ]; then
    removed=no
    [ ! -f "$noted" ] || made=$(sort -r "$noted")
    for file in "$program" "$remote" "$fetch" "$man"/git-hydrate.1 "$man"/git-hydrate-*.1 "$bash" "$zsh" "$fish" "$fish_git" "$noted"; do
        [ -e "$file" ] || [ -L "$file" ] || continue
        removed=yes
        rm -f "$file"
    done
    # Of the directories that were made for it, those that others use stay.
    printf '%s\n' "$made" | while IFS= read -r dir; do
        case $dir in
        "$prefix"/?*) rmdir "$dir" 2>/dev/null || true ;;
        esac
    done
    if [ $removed = yes ]; then
        echo "removed git-hydrate from $prefix"
    else
        echo "git-hydrate is not installed in $prefix"
    fi
    exit
fi

if [ -z "$binary" ]; then
    command -v cargo >/dev/null ||
        fail 'building needs Rust, see https://rustup.rs; as another user, build first: cargo build --release
       and then: sudo ./install.sh --binary target/release/git-hydrate'
    command -v cc >/dev/null || fail 'building needs a C compiler, which links the program: install gcc or clang'
    echo "building git-hydrate: the first time this takes a few minutes, up to ten on two cores" >&2
    # Its warning that this directory is not on PATH would mislead, so the rest of its directory is put there.
    PATH=$PATH:$stage/bin cargo install --path "$here" --locked --no-track --root "$stage"
    binary=$stage/bin/git-hydrate
fi
[ -f "$binary" ] && [ -x "$binary" ] || fail "--binary $binary: there is no program of that name" 2
beside=$(dirname "$binary")/git-remote-hydrate
[ -f "$beside" ] || fail "$beside is missing, which serves hydrate::<url>"
"$binary" man "$stage/man"
for shell in bash zsh fish; do
    "$binary" completions $shell >"$stage/$shell"
done
fish_completes_git >"$stage/fish_git"

put "$binary" "$program" 755
put "$beside" "$remote" 755
# Only `git hydrate vendor` needs it, and only to bring more from elsewhere.
if [ -f "$(dirname "$binary")/git-hydrate-fetch" ]; then
    put "$(dirname "$binary")/git-hydrate-fetch" "$fetch" 755
fi
for page in "$stage"/man/*; do
    put "$page" "$man/$(basename "$page")" 644
done
put "$stage/bash" "$bash" 644
put "$stage/zsh" "$zsh" 644
put "$stage/fish" "$fish" 644
put "$stage/fish_git" "$fish_git" 644
make "$(dirname "$noted")"
{
    [ ! -f "$noted" ] || cat "$noted"
    printf %s "$made"
} | sort -u >"$stage/made"
put "$stage/made" "$noted" 644

echo "installed $("$program" --version) as $program"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) echo "to have git find it: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac

printf %s "$servers" | while IFS= read -r server; do
    PATH=$prefix/bin:$PATH "$program" install --server "$server"
done
[ $demo = no ] || PATH=$prefix/bin:$PATH "$here/tests/demo"
