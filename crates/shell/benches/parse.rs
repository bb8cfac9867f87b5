//! Time per command, printed as p50 and p99.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

mod sample;

use std::hint::black_box;
use std::time::Instant;

use doorward_shell::{Dialect, hidden, parse};
use sample::SAMPLES;

const ROUNDS: usize = 20_000;

fn main() {
    let mut times = Vec::with_capacity(ROUNDS * SAMPLES.len());
    for _ in 0..ROUNDS {
        for sample in SAMPLES {
            let started = Instant::now();
            let result = parse(black_box(sample), Dialect::Bash);
            times.push(started.elapsed().as_nanos());
            black_box((result, hidden(sample)));
        }
    }
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!("{} parses: p50 {} ns, p99 {} ns", times.len(), at(0.50), at(0.99));
    for size in [100, 10_000, 1 << 20] {
        let text = SAMPLES.join("\n").repeat(size / 1_000 + 1);
        let text = text.get(..size).unwrap_or(&text);
        let started = Instant::now();
        black_box(parse(black_box(text), Dialect::Bash));
        println!("{size} bytes: {:?}", started.elapsed());
    }
}
