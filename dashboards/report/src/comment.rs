//! A post-mortem in at most 50 characters.

use crate::PostMortem;
use schemas::{Cause, loss_words};

impl PostMortem {
    /// At most 50 characters of ASCII, as Slurm's receiver writes them into the comment of a job.
    pub fn comment(&self) -> String {
        let Some(result) = self.seen() else {
            return "no data; contention unknown".to_string();
        };
        if result.slowdown_s <= 0.0 {
            return loss_words::none(result.judged, result.slowdown_hi_s);
        }
        let largest = result.causes.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        let by = largest.filter(|c| matches!(c.cause, Cause::OtherJob | Cause::IoOnMpi));
        loss_words::lost(result.lost_s(), by.map(|c| c.series_or_job.as_str()))
    }
}
