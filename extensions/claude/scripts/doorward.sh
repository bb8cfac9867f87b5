#!/bin/sh
# Finds the doorward program and becomes it. Hooks that decide turn any failure here into a block.
for place in "$HOME/.local/bin" "$HOME/.cargo/bin" "/usr/local/bin" "/opt/homebrew/bin" "/home/linuxbrew/.linuxbrew/bin" "/usr/bin"; do
  if [ -x "$place/doorward" ]; then
    exec "$place/doorward" "$@"
  fi
done
# A program inside the project could be the agent's own.
found=$(command -v doorward || true)
case $found in
  "$PWD"/* | "${CLAUDE_PROJECT_DIR:-$PWD}"/*) ;;
  /*) exec "$found" "$@" ;;
esac
echo 'doorward is not installed, so its plugin blocks every call. Install it (https://github.com/doorward/doorward) and run `doorward setup claude`, or remove the plugin: claude plugin uninstall doorward' >&2
exit 127
