# The part of install.sh that writes packages; `here`, `stage`, `binary` and `package` are set there.
#
# The same bytes each time: entries are sorted, belong to user 0 and have the date of the commit (or SOURCE_DATE_EPOCH), and
# the program holds no path of the machine that builds it.

umask 022
step() {
    echo "package: $1" >&2
}

tar --version 2>/dev/null | grep -q GNU || fail 'packages are made with GNU tar'
date=${SOURCE_DATE_EPOCH-$(git -C "$here" log -1 --format=%ct 2>/dev/null)} ||
    fail 'the date of the packages is that of the commit, and this is no clone: set SOURCE_DATE_EPOCH' 2
export SOURCE_DATE_EPOCH="$date"
mkdir -p "$package" && package=$(cd "$package" && pwd)
arch=$(uname -m)

# build TARGET: the programs, linked statically, without the paths of this machine.
build() {
    unit=$(printf '\037')
    target_dir=${CARGO_TARGET_DIR:-$here/target}
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    flags=-Ctarget-feature=+crt-static c_flags=
    for pair in "$here=/git-hydrate" "$target_dir=/target" "$cargo_home=/cargo" "$(rustc --print sysroot)=/rust"; do
        flags=$flags$unit--remap-path-prefix=$pair
        c_flags="$c_flags -ffile-prefix-map=$pair"
    done
    CARGO_ENCODED_RUSTFLAGS=$flags CFLAGS=$c_flags cargo build --manifest-path "$here/Cargo.toml" --profile dist --locked --bins \
        --target "$1" --target-dir "$target_dir"
    binary=$target_dir/$1/dist/git-hydrate
}

if [ -z "$binary" ]; then
    command -v cargo >/dev/null || fail 'building needs Rust, see https://rustup.rs'
    target=$arch-unknown-linux-musl
    if ! command -v musl-gcc >/dev/null || [ ! -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ]; then
        target=$arch-unknown-linux-gnu
        echo "warning: linked with glibc, whose look-up of host names in git-hydrate-fetch needs the same glibc where it runs
hint: to link with musl: rustup target add $arch-unknown-linux-musl, and install musl-gcc (Debian: musl-tools)" >&2
    fi
    step "building for $target: a few minutes, up to ten on two cores"
    build "$target"
fi
[ -f "$binary" ] && [ -x "$binary" ] || fail "--binary $binary: there is no program of that name" 2
for program in git-remote-hydrate git-hydrate-fetch; do
    [ -f "$(dirname "$binary")/$program" ] || fail "$(dirname "$binary")/$program is missing" 2
done
for program in git-hydrate git-remote-hydrate git-hydrate-fetch; do
    case $(ldd "$(dirname "$binary")/$program" 2>/dev/null) in
    *'=>'*) fail "$(dirname "$binary")/$program is linked dynamically, and packages are for machines that have git alone
hint: leave --binary out: static programs are built then" 2 ;;
    esac
done
version=$("$binary" --version) && version=${version##* }

# copy FILE DESTINATION MODE, for packages.
copy() {
    install -D -m "$3" "$1" "$2"
}

# lay DIRECTORY ZSH: programs, manual pages and completions, as they are below a prefix.
lay() {
    for program in git-hydrate git-remote-hydrate git-hydrate-fetch; do
        copy "$(dirname "$binary")/$program" "$1/bin/$program" 755
    done
    "$binary" man "$stage/man"
    for page in "$stage"/man/*; do
        copy "$page" "$1/share/man/man1/$(basename "$page")" 644
    done
    for shell in bash zsh fish; do
        "$binary" completions $shell >"$stage/$shell"
    done
    fish_completes_git >"$stage/fish_git"
    copy "$stage/bash" "$1/share/bash-completion/completions/git-hydrate" 644
    copy "$stage/zsh" "$1/share/zsh/$2/_git-hydrate" 644
    copy "$stage/fish" "$1/share/fish/vendor_completions.d/git-hydrate.fish" 644
    copy "$stage/fish_git" "$1/share/fish/vendor_conf.d/git-hydrate.fish" 644
}

# explain DIRECTORY: the README and the pages that it links to.
explain() {
    copy "$here/README.md" "$1/README.md" 644
    for page in "$here"/docs/*.md "$here/docs/push.svg"; do
        copy "$page" "$1/docs/$(basename "$page")" 644
    done
}

# archive DIRECTORY ENTRY FILE.tar.gz
archive() {
    tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$1" -cf - "$2" | gzip -9n >"$3"
}

# member NAME FILE: an entry of an `ar` archive, which is what a Debian package is.
member() {
    size=$(wc -c <"$2")
    printf '%-16s%-12s%-6s%-6s%-8s%-10s`\n' "$1" "$date" 0 0 100644 "$((size))"
    cat "$2"
    [ $((size % 2)) = 0 ] || echo
}

whole=git-hydrate-$version-$arch-linux
step "writing $package/$whole.tar.gz"
lay "$stage/tar/$whole" site-functions
for hook in "$here"/hooks/*; do
    copy "$hook" "$stage/tar/$whole/hooks/$(basename "$hook")" 755
done
explain "$stage/tar/$whole"
copy "$here/LICENSE" "$stage/tar/$whole/LICENSE" 644
archive "$stage/tar" "$whole" "$package/$whole.tar.gz"

case $arch in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) debian=$arch ;;
esac
deb=$package/git-hydrate_${version}_$debian.deb
step "writing $deb"
root=$stage/deb
lay "$root/usr" vendor-completions
for hook in "$here"/hooks/*; do
    copy "$hook" "$root/usr/share/git-hydrate/hooks/$(basename "$hook")" 755
done
gzip -9n "$root"/usr/share/man/man1/*
explain "$root/usr/share/doc/git-hydrate"
copy "$here/LICENSE" "$root/usr/share/doc/git-hydrate/copyright" 644
mkdir "$stage/control"
cat >"$stage/control/control" <<TEXT
Package: git-hydrate
Version: $version
Architecture: $debian
Maintainer: git-hydrate <git-hydrate@localhost>
Installed-Size: $(find "$root" -type f -exec wc -c {} + | awk '$2 != "total" { size += $1 } END { print int(size / 1024) + 1 }')
Depends: git (>= 1:2.30)
Recommends: ca-certificates
Section: vcs
Priority: optional
Description: renders Argo CD Applications into environment branches, in the git server
 A post-receive hook hydrates what is pushed: Helm charts, Kustomize overlays and plain YAML become plain manifests on
 branches of the same repository. "git hydrate" does the same in a clone.
TEXT
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$stage/control/md5sums"
archive "$stage/control" . "$stage/control.tar.gz"
archive "$root" . "$stage/data.tar.gz"
echo 2.0 >"$stage/debian-binary"
{
    printf '!<arch>\n'
    member debian-binary "$stage/debian-binary"
    member control.tar.gz "$stage/control.tar.gz"
    member data.tar.gz "$stage/data.tar.gz"
} >"$deb"
(cd "$package" && sha256sum "$whole.tar.gz" "$(basename "$deb")")
