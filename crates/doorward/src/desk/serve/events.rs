//! Events: what changed, so that open pages ask again. An event says nothing else.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::room::Room;
use super::tokens::Visitor;
use crate::machine::presence;

/// How often the queue is looked at while somebody watches.
const LOOK: Duration = Duration::from_millis(300);

/// A line in between, so that a connection that died is noticed.
const BREATH: u32 = 50;

/// Events for one visitor, until they leave.
pub(super) fn subscribe(room: &Arc<Room>, visitor: &Visitor) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    let (room, device) = (Arc::clone(room), visitor.device.clone());
    tokio::task::spawn_local(async move {
        // Calls wait for whoever watches and can answer.
        let _presence = device.is_some().then(|| presence::announce(&room.dirs)).flatten();
        let (mut known, mut quiet) = (room.queue_stamp(), 0);
        if sender.send(": hello\n\n".to_owned()).await.is_err() {
            return;
        }
        loop {
            tokio::time::sleep(LOOK).await;
            if device.as_deref().is_some_and(|device| !room.is_good(device)) {
                return;
            }
            let now = room.queue_stamp();
            quiet += 1;
            let text = if now != known {
                "event: queue\ndata:\n\n"
            } else if quiet > BREATH {
                ": still here\n\n"
            } else if sender.is_closed() {
                return;
            } else {
                continue;
            };
            (known, quiet) = (now, 0);
            if sender.send(text.to_owned()).await.is_err() {
                return;
            }
        }
    });
    receiver
}
