#!/bin/sh
# Installs the frameworks into a directory of its own and plays the scenarios. Needs npm's registry.
set -eu
cd "$(dirname "$0")"
SDK_MODULES=${SDK_CACHE:-$HOME/.cache/doorward-sdk}/node
export SDK_MODULES
mkdir -p "$SDK_MODULES"
[ -f "$SDK_MODULES/package.json" ] || echo '{"private":true}' >"$SDK_MODULES/package.json"
npm install --prefix "$SDK_MODULES" --no-audit --no-fund --loglevel=error --legacy-peer-deps ai@6.0.326 zod@4.6.7 @modelcontextprotocol/sdk@1.32.2 @anthropic-ai/claude-agent-sdk@0.3.327 typescript@7.0.2 || exit 77
"$SDK_MODULES/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2023 --skipLibCheck --types '' types.ts
exec node --test sdk.test.js
