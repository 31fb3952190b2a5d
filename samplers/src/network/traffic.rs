//! The load of a job on its links, and what it loses there to others.

use super::Tile;
use crate::truth::Blame;
use std::collections::BTreeMap;

/// A link counts as contended when others raise its ratio to this many times what a job has alone, ...
const RISE_MIN: f64 = 2.0;
/// ... and by at least this much: a rise that no application would feel is no contention.
const RISE_STALLS_MIN: f64 = 0.02;

/// The load of one job.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    pub(super) job: u64,
    /// Tile, bytes a second, ratio it has with this load alone.
    pub(super) links: Vec<(u32, f64, f64)>,
    /// Node, and bytes a second that it sends.
    pub(super) sent: Vec<(u32, f64)>,
    pub(super) sending: bool,
    pub(super) lost: f64,
    pub(super) blame: Blame,
    pub(super) contended: bool,
}

/// A link on which a job loses time to another.
#[derive(Clone, Debug)]
pub(crate) struct Contended {
    pub(crate) tile: u32,
    /// Seconds lost a second by the job that suffers most.
    pub(crate) lost: f64,
    pub(crate) blame: Blame,
}

impl Traffic {
    /// What the job loses now. On one link `1 - (1 + r0) / (1 + r1)`, with `r0` its ratio without the others;
    /// of the whole job the same with the means over its links, as the report takes the mean of a router.
    pub(super) fn weigh(
        &mut self,
        tiles: &[Tile],
        users: &BTreeMap<u32, Vec<(u64, f64)>>,
        contended: &mut BTreeMap<u32, Contended>,
    ) {
        let (mut own, mut all) = (0.0, 0.0);
        let mut blame: BTreeMap<u64, f64> = BTreeMap::new();
        self.contended = false;
        for (index, _, alone) in self.links.iter().filter(|_| self.sending) {
            let ratio = tiles[*index as usize].ratio;
            own += alone;
            all += ratio;
            let lost = 1.0 - (1.0 + alone) / (1.0 + ratio);
            let parts = blame_of(self.job, users.get(index));
            for (job, part) in &parts {
                *blame.entry(*job).or_default() += part * lost;
            }
            if ratio >= RISE_MIN * alone && ratio - alone >= RISE_STALLS_MIN {
                self.contended = true;
                keep_worst(contended, *index, lost, parts);
            }
        }
        let count = self.links.len().max(1) as f64;
        self.lost = 1.0 - (1.0 + own / count) / (1.0 + all / count);
        let total: f64 = blame.values().sum();
        let lost_to = blame.into_iter().filter(|(_, lost)| *lost > 0.0);
        self.blame = lost_to.map(|(job, lost)| (job, lost / total)).collect();
    }
}

fn keep_worst(contended: &mut BTreeMap<u32, Contended>, tile: u32, lost: f64, blame: Blame) {
    let known = contended.get(&tile).is_some_and(|c| c.lost >= lost);
    if !known {
        contended.insert(tile, Contended { tile, lost, blame });
    }
}

/// Blames the other users of a link by their load.
fn blame_of(job: u64, users: Option<&Vec<(u64, f64)>>) -> Blame {
    let others = || users.into_iter().flatten().filter(|(other, _)| *other != job);
    let total: f64 = others().map(|(_, load)| load).sum();
    others().map(|(other, load)| (*other, load / total)).collect()
}
