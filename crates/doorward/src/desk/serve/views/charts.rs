//! Figures and charts: the report's own, made again when they are older than a moment.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use doorward_pages::Content;
use serde_json::json;

use super::super::exchange::{Answer, Refusal};
use super::super::room::{Room, locked};
use super::{html, page};
use crate::desk::report;

/// Figures of thirty days change little in this time, and a long record takes seconds to count.
const FRESH: Duration = Duration::from_secs(30);

/// The last figures, and since when somebody makes new ones.
#[derive(Debug, Default)]
pub(in super::super) struct Figures {
    last: Mutex<Option<(Arc<Vec<Content>>, Instant)>>,
    making: Mutex<()>,
}

impl Figures {
    /// What there is; older figures are made again in the background, so only the first visitor ever waits.
    fn get(&self, room: &Arc<Room>) -> Result<Arc<Vec<Content>>, Refusal> {
        let known = locked(&self.last).clone();
        match known {
            Some((blocks, made)) if made.elapsed() < FRESH => Ok(blocks),
            Some((blocks, _)) => {
                let room = Arc::clone(room);
                // If no thread can be had, the next visitor tries again.
                let _ = std::thread::Builder::new().spawn(move || room.figures.make(&room));
                Ok(blocks)
            }
            None => self.make(room),
        }
    }

    /// Makes them, unless somebody else has just done so.
    pub(in super::super) fn make(&self, room: &Room) -> Result<Arc<Vec<Content>>, Refusal> {
        let _making = locked(&self.making);
        if let Some((blocks, made)) = locked(&self.last).clone()
            && made.elapsed() < FRESH
        {
            return Ok(blocks);
        }
        let (view, _) = room.record()?;
        let blocks = Arc::new(report::figures(&view)?);
        *locked(&self.last) = Some((Arc::clone(&blocks), Instant::now()));
        Ok(blocks)
    }
}

pub(in super::super) fn charts(room: &Arc<Room>) -> Result<Answer, Refusal> {
    let blocks = room.figures.get(room)?;
    let blocks: Vec<(&str, Content)> = blocks.iter().map(|block| ("", block.clone())).collect();
    Ok(html(page("Charts", &blocks)))
}

pub(in super::super) fn charts_json(room: &Arc<Room>) -> Result<Answer, Refusal> {
    Answer::json(&json!({ "blocks": *room.figures.get(room)? }))
}
