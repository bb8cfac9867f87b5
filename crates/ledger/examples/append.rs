//! Appends entries to a log and prints how long one takes: `append DIR COUNT`.

use doorward_ledger::{DecisionBody, Log};
use std::path::Path;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "an example prints its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("a directory is wanted")?;
    let count: u32 = arguments.next().ok_or("a count is wanted")?.parse()?;
    let body = DecisionBody { call: "ls -la".repeat(80), ..DecisionBody::default() };
    let started = Instant::now();
    for number in 0..count {
        let _receipt =
            Log::open(Path::new(&dir)).or_else(|_| Log::create(Path::new(&dir)))?.append(&body, u64::from(number))?;
    }
    println!("{:?} per entry", started.elapsed() / count.max(1));
    Ok(())
}
