#!/bin/sh
# Installs the frameworks into a directory of its own and plays the scenarios. Needs PyPI, and Claude Code from the SDK's own wheel.
set -eu
cd "$(dirname "$0")"
room=${SDK_CACHE:-$HOME/.cache/doorward-sdk}/python
if [ ! -x "$room/bin/python" ]; then "${PYTHON:-python3}" -m venv "$room"; fi
"$room/bin/pip" install --quiet --disable-pip-version-check -r adapters.txt || exit 77
exec "$room/bin/python" -m unittest -v "${@:-test_adapters}"
