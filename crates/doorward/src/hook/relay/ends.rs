//! Records how calls ended, after their answers are out: nobody waits for the disk twice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::judge::{Judge, Judged};
use crate::hook::agents::CallResult;

/// How one call ended.
#[derive(Debug)]
pub(super) struct End {
    pub judged: Judged,
    pub result: CallResult,
    pub detail: Option<&'static str>,
}

/// The thread that records, and what it still has to do.
#[derive(Debug)]
pub(super) struct Ends {
    queue: Mutex<Option<Sender<End>>>,
    open: Arc<(Mutex<usize>, Condvar)>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Ends {
    pub(super) fn start(judge: Arc<Judge>) -> Ends {
        let (queue, ends) = channel::<End>();
        let open = Arc::new((Mutex::new(0_usize), Condvar::new()));
        let left = Arc::clone(&open);
        let record = move || {
            for End { judged, result, detail } in ends {
                // A panic must not leave the count as it is, or the next call would wait for ever.
                let _ = catch_unwind(AssertUnwindSafe(|| judge.ended(&judged, result, detail)));
                *left.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
                left.1.notify_all();
            }
        };
        let thread = std::thread::Builder::new().spawn(record).ok();
        let queue = thread.is_some().then_some(queue);
        Ends { queue: Mutex::new(queue), open, thread: Mutex::new(thread) }
    }

    pub(super) fn add(&self, end: End) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        *self.open.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        if queue.as_ref().is_none_or(|queue| queue.send(end).is_err()) {
            *self.open.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        }
    }

    /// Waits until everything that ended so far is on record: the next call is judged by it.
    pub(super) fn settle(&self) {
        let mut open = self.open.0.lock().unwrap_or_else(PoisonError::into_inner);
        while *open > 0 {
            open = self.open.1.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records the rest and ends.
    pub(super) fn finish(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic while recording ended the thread; the record lacks the end of calls, never a decision.
            let _ = thread.join();
        }
    }
}
