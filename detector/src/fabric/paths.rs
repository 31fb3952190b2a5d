//! Ends that several paths connect: a host with two adapters, two switches with parallel cables (Vishnu 2007; check T7).

use super::Fabric;
use super::lifecycle::{PairState, PathState};
use topology::LinkIndex;

impl Fabric {
    /// How two ends are connected between which each of `links` makes a path of its own, by what was reported up to the
    /// latest second: a path has failed from the failure of its cable, reported at either end, until that has recovered.
    /// Without a report the state of a link is unknown: silence and zero traffic are not healthy.
    pub fn paths(&self, links: impl IntoIterator<Item = LinkIndex>) -> PairState {
        PairState::of(links.into_iter().map(|link| self.path(link)))
    }

    fn path(&self, link: LinkIndex) -> PathState {
        let reverse = self.network.as_ref().map(|network| network.topology.reverse(link));
        let ends = || [Some(link), reverse].into_iter().flatten().filter_map(|end| self.links.of_link(end));
        if ends().any(|series| self.down.contains_key(&series)) {
            return PathState::Failed;
        }
        let was_reported = |series: u32| self.links.reported_at[series as usize] != i64::MIN;
        if ends().any(was_reported) { PathState::Good } else { PathState::Unknown }
    }
}
