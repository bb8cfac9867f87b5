#!/bin/sh
# Installs doorward @VERSION@ for the current user:
#
#   curl -fsSL https://github.com/doorward/doorward/releases/download/v@VERSION@/install.sh | sh
#
#   --dir DIR      where the program goes (default ~/.local/bin)
#   --from DIR     take the files from this directory instead of the network
#   --uninstall    remove what this script installed; `doorward setup --uninstall --purge` first removes hooks, settings and the record
#
# Nothing that was downloaded is run, unpacked or installed before the signature of SHA256SUMS and then the checksum of the archive were
# verified. Needs curl or wget, tar, and openssl 3 or ssh-keygen for the signature. Without a way to verify, it installs nothing.
set -eu

VERSION='@VERSION@'
PUBLIC_KEY='@PUBLIC_KEY@'
SSH_KEY='@SSH_KEY@'
BASE="https://github.com/doorward/doorward/releases/download/v$VERSION"

fail() {
  printf 'install.sh: %s\nnothing was installed\n' "$1" >&2
  exit 1
}

target() {
  case $(uname -s)/$(uname -m) in
    Linux/x86_64) echo x86_64-unknown-linux-musl ;;
    Linux/aarch64 | Linux/arm64) echo aarch64-unknown-linux-musl ;;
    Darwin/x86_64) echo x86_64-apple-darwin ;;
    Darwin/arm64) echo aarch64-apple-darwin ;;
    *) fail "there is no program for $(uname -s) on $(uname -m); on Windows use WSL" ;;
  esac
}

# fetch NAME: from the directory, or over the network with HTTPS only.
fetch() {
  if [ -n "$from" ]; then
    cp "$from/$1" "$room/$1" 2>/dev/null || fail "\`$from/$1\` can't be read"
  elif command -v curl >/dev/null; then
    curl -fsSL --proto '=https' --tlsv1.2 -o "$room/$1" "$BASE/$1" || fail "$BASE/$1 can't be downloaded"
  elif command -v wget >/dev/null; then
    wget -q --https-only -O "$room/$1" "$BASE/$1" || fail "$BASE/$1 can't be downloaded"
  else
    fail 'neither curl nor wget is installed'
  fi
}

can_openssl() {
  command -v openssl >/dev/null && openssl pkeyutl -help 2>&1 | grep -q -e -rawin
}

verify_signature() {
  if can_openssl; then
    printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$PUBLIC_KEY" >"$room/key.pem"
    openssl base64 -d -in "$room/SHA256SUMS.sig" -out "$room/signature" 2>/dev/null || return 1
    openssl pkeyutl -verify -pubin -inkey "$room/key.pem" -rawin -in "$room/SHA256SUMS" -sigfile "$room/signature" >/dev/null 2>&1
  elif command -v ssh-keygen >/dev/null; then
    printf 'doorward %s\n' "$SSH_KEY" >"$room/signers"
    ssh-keygen -Y verify -f "$room/signers" -I doorward -n doorward-release -s "$room/SHA256SUMS.sshsig" <"$room/SHA256SUMS" >/dev/null 2>&1
  else
    fail 'neither openssl 3 nor ssh-keygen is installed, so the signature of the download can'"'"'t be verified'
  fi
}

digest() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  fi
}

# put SOURCE TARGET MODE: whole or not at all, and never through a link that is there.
put() {
  cp "$1" "$2.new.$$" && chmod "$3" "$2.new.$$" && mv -f "$2.new.$$" "$2" || {
    rm -f "$2.new.$$"
    fail "\`$2\` can't be written"
  }
}

# Where a shell looks for completions.
place() {
  case $1 in
    bash) echo "$share/bash-completion/completions/doorward" ;;
    zsh) echo "$share/zsh/site-functions/_doorward" ;;
    fish) echo "$share/fish/vendor_completions.d/doorward.fish" ;;
  esac
}

uninstall() {
  rm -f "$dir/doorward"
  rm -f "$share/man/man1/doorward.1" "$share"/man/man1/doorward-*.1
  for shell in bash zsh fish; do rm -f "$(place $shell)"; done
  for folder in man/man1 man bash-completion/completions bash-completion zsh/site-functions zsh fish/vendor_completions.d fish; do
    rmdir "$share/$folder" 2>/dev/null || true
  done
  printf 'removed doorward from %s\n' "$dir"
}

main() {
  dir=$HOME/.local/bin from='' share=$HOME/.local/share
  while [ $# -gt 0 ]; do
    case $1 in
      --dir) dir=${2:?--dir needs a directory}; shift 2 ;;
      --from) from=${2:?--from needs a directory}; shift 2 ;;
      --uninstall) wants=uninstall; shift ;;
      *) fail "unknown argument \`$1\`" ;;
    esac
  done
  case $dir in /*) ;; *) fail "\`$dir\` is not an absolute path" ;; esac
  if [ "${wants:-}" = uninstall ]; then uninstall; exit 0; fi
  case $PUBLIC_KEY in *@*) fail 'this is the template; the released install.sh has the key in it' ;; esac
  target=$(target) || exit 1
  # Before anything is downloaded.
  mkdir -p "$dir" 2>/dev/null || fail "\`$dir\` can't be made"
  ( : >"$dir/.doorward.$$" ) 2>/dev/null && rm -f "$dir/.doorward.$$" || fail "\`$dir\` can't be written; choose another with --dir"
  room=$(mktemp -d)
  trap 'rm -rf "$room"' EXIT
  trap 'exit 1' HUP INT TERM

  name=doorward-$VERSION-$target
  fetch SHA256SUMS
  fetch SHA256SUMS.sig
  fetch SHA256SUMS.sshsig
  verify_signature || fail 'the signature of SHA256SUMS is wrong'
  # A list that was signed for another version is another release.
  [ "$(head -n 1 "$room/SHA256SUMS")" = "# doorward $VERSION" ] || fail "SHA256SUMS is not that of version $VERSION"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$room/SHA256SUMS")
  [ -n "$wanted" ] || fail "this release has no program for $target"
  fetch "$name.tar.gz"
  [ "$(digest "$room/$name.tar.gz")" = "$wanted" ] || fail "the checksum of $name.tar.gz is wrong; the download may be cut off or changed"

  tar -xzf "$room/$name.tar.gz" -C "$room" || fail "$name.tar.gz can't be unpacked"
  found=$("$room/$name/doorward" --version) || fail 'the program does not run on this machine'
  [ "$found" = "doorward $VERSION" ] || fail "the program says that it is \`$found\`"
  put "$room/$name/doorward" "$dir/doorward" 755
  mkdir -p "$share/man/man1" && cp "$room/$name"/man/man1/*.1 "$share/man/man1/"
  for shell in bash zsh fish; do
    place=$(place $shell)
    mkdir -p "${place%/*}" && cp "$room/$name/completions/doorward.$shell" "$place"
  done
  printf 'installed doorward %s in %s\n' "$VERSION" "$dir"
  case ":$PATH:" in *":$dir:"*) ;; *) printf 'add %s to your PATH\n' "$dir" ;; esac
  printf 'next: doorward preview (judges past calls, installs nothing), then doorward setup\n'
}

# A script that was cut off on its way has no last line, and does nothing.
main "$@"
