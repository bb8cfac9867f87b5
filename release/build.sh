#!/usr/bin/env bash
# Builds every artefact of a release into one directory, the same bytes each time.
#
#   release/build.sh [--out DIR] [--key FILE] [--target TRIPLE]… [--binary TRIPLE=PATH]… [--profile NAME]
#
# Targets: x86_64-unknown-linux-musl and aarch64-unknown-linux-musl, static, unless others are named (aarch64-apple-darwin and
# x86_64-apple-darwin are built on a Mac). A target that can't be built here is said so, and left out. --binary packs a program
# that is already built. --key signs with an Ed25519 key as doorward keeps its own: a file with 64 hex digits, for you alone.
#
# Needs Rust with the target (`rustup target add TRIPLE`), Python 3, and for Linux targets clang and the headers of musl (Debian:
# `apt-get install clang musl-dev`; for the other architecture they are taken from Debian's package, see `headers`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

out=target/dist key='' profile=release targets=() binaries=()
while (($#)); do
  case $1 in
    --out) out=$2; shift 2 ;;
    --key) key=$2; shift 2 ;;
    --target) targets+=("$2"); shift 2 ;;
    --binary) binaries+=("$2"); shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    *) printf 'unknown argument: %s\n' "$1" >&2; exit 2 ;;
  esac
done
if ((${#targets[@]} + ${#binaries[@]} == 0)); then targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl); fi

# The time of everything in the archives: that of the commit, whatever the clock says.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

missing=()

# The directory with the headers of musl for an architecture; fetched with apt if they are not installed.
headers() {
  local arch=$1 debian=$2
  if [[ -d /usr/include/$arch-linux-musl ]]; then printf '/usr/include/%s-linux-musl' "$arch"; return; fi
  local room=$root/target/headers/$debian
  if [[ ! -d $room/usr/include/$arch-linux-musl ]]; then
    command -v apt-get >/dev/null || return 1
    mkdir -p "$room/lists/partial" "$room/cache/archives/partial"
    local options=(-o "APT::Architecture=$debian" -o "APT::Architectures=$debian" -o "Dir::State::lists=$room/lists"
      -o "Dir::Cache=$room/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
    (cd "$room" && apt-get "${options[@]}" -qq update && apt-get "${options[@]}" -qq download musl-dev && dpkg-deb -x musl-dev_*.deb .) >&2 || return 1
  fi
  printf '%s/usr/include/%s-linux-musl' "$room" "$arch"
}

# Compiles for one target; the path of the program goes to standard output.
compile() {
  local target=$1 name=${1//-/_} directory=target/$1/$profile flags=''
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >&2 || return 1
  # No path of this machine in the program: otherwise it would differ from one built elsewhere.
  flags="--remap-path-prefix=$root=/doorward --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$(rustc --print sysroot)=/rust"
  case $target in
    *-linux-musl)
      local arch=${target%%-*} debian=arm64 include
      [[ $arch == x86_64 ]] && debian=amd64
      command -v clang >/dev/null || { printf 'clang is not installed\n' >&2; return 1; }
      include=$(headers "$arch" "$debian") || { printf 'no headers of musl for %s\n' "$arch" >&2; return 1; }
      export "CC_$name=clang" "AR_$name=$(command -v llvm-ar || command -v ar)"
      export "CFLAGS_$name=--target=$arch-linux-musl -nostdinc -isystem $(clang -print-resource-dir)/include -isystem $include -ffile-prefix-map=$root=/doorward -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo"
      export "CARGO_TARGET_${name^^}_LINKER=rust-lld"
      ;;
    *-apple-darwin) [[ $(uname) == Darwin ]] || { printf 'macOS programs are built on a Mac\n' >&2; return 1; } ;;
  esac
  RUSTFLAGS="$flags" cargo build -p doorward --locked --profile "$profile" --target "$target" >&2 || return 1
  printf '%s' "$directory/doorward"
}

for target in ${targets[@]+"${targets[@]}"}; do
  if program=$(compile "$target"); then binaries+=("$target=$program"); else missing+=("$target"); fi
done
if ((${#binaries[@]} == 0)); then printf 'nothing was built\n' >&2; exit 1; fi

python3 release/package.py --out "$out" ${key:+--key "$key"} "${binaries[@]}"

for target in ${missing[@]+"${missing[@]}"}; do printf 'NOT BUILT: %s\n' "$target"; done
((${#missing[@]} == 0))
