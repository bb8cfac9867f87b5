//! Commands as coding agents write them, for measuring.

#[allow(unreachable_pub, reason = "several benches include this file")]
pub const SAMPLES: &[&str] = &[
    "git status --short",
    "ls -la src",
    "cargo test --workspace -- --nocapture 2>&1 | tail -40",
    "cd crates/core && cargo build --release",
    "rg -n \"fn parse\" --glob '*.rs' src | head -20",
    "sed -n '1,120p' src/lib.rs",
    "git add -A && git commit -m \"fix: handle empty input\" && git push",
    "for f in $(git diff --name-only); do wc -l \"$f\"; done",
    "find . -name '*.tmp' -not -path './target/*' -exec rm -f {} +",
    "python3 - <<'PY'\nimport os\nprint(os.getcwd())\nPY",
    "test -f package.json && npm run build || echo \"nothing to build\" >&2",
    "docker run --rm -v \"$PWD\":/src -w /src node:22 sh -c 'npm ci && npm test'",
    "if [ -d \"$HOME/.cache\" ]; then du -sh \"$HOME/.cache\"; fi",
    "curl -fsSL https://example.com/v1/items?limit=10 | jq -r '.[] | .name'",
];
