#!/bin/sh
# Compiles the engine to WebAssembly: target/wasm32-unknown-unknown/release/doorward_try.wasm. Needs clang, llvm-ar and the target.
set -eu
cd "$(dirname "$0")"
rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
cargo fetch --locked --quiet
# The grammars of tree-sitter ask for the headers of a C library; tree-sitter-language brings the few that they need.
language=$(cargo metadata --locked --format-version 1 --offline | python3 -c 'import json, sys, os; print(next(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "tree-sitter-language"))')
CC_wasm32_unknown_unknown=clang
AR_wasm32_unknown_unknown=$(command -v llvm-ar || ls /usr/bin/llvm-ar-* | tail -n 1)
CFLAGS_wasm32_unknown_unknown="-isystem $language/wasm/include"
export CC_wasm32_unknown_unknown AR_wasm32_unknown_unknown CFLAGS_wasm32_unknown_unknown
# Both grammars define the same `__assert_fail`.
cargo rustc --release --locked --target wasm32-unknown-unknown -- -C link-arg=--allow-multiple-definition
