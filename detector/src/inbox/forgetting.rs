//! The end of raw partitions, and new numbers of sources.

use super::{Content, Gave, Inbox, Raw};
use schemas::SourceIndex;

impl Inbox {
    /// Forgets raw partitions of which no aggregator reported for `after_s`: their topics were deleted, or are read no more.
    pub fn forget_raws(&mut self, after_s: f64) {
        let passed_s = self.passed_s;
        let stays = |raw: &Raw| passed_s - raw.reported_s <= after_s || !raw.heads.is_empty();
        let mut next = 0;
        let mut number = |raw: &Raw| {
            next += usize::from(stays(raw));
            stays(raw).then(|| next - 1)
        };
        let numbers: Vec<Option<usize>> = self.raws.iter().map(&mut number).collect();
        if !numbers.contains(&None) {
            return;
        }
        self.raws.retain(stays);
        for partitions in self.places.values_mut() {
            let numbered = std::mem::take(partitions).into_iter();
            let left = numbered.filter_map(|(partition, at)| Some((partition, numbers[at]?)));
            *partitions = left.collect();
        }
        self.places.retain(|_, partitions| !partitions.is_empty());
    }

    /// Sources that rows here are of.
    pub fn sources(&self) -> impl Iterator<Item = SourceIndex> {
        let of_raw = |raw: &'_ Raw| {
            let seen = raw.at_seen.iter().filter_map(|gave| match gave {
                Gave::Row(source, _) => Some(*source),
                Gave::Jobs => None,
            });
            let waiting = raw.heads.iter().filter_map(|head| match head.content {
                Content::Row { source, .. } => Some(source),
                Content::Jobs(_) => None,
            });
            seen.chain(waiting).collect::<Vec<_>>()
        };
        self.raws.iter().flat_map(of_raw)
    }

    /// Gives sources other numbers; all of [`Inbox::sources`] have one.
    pub fn renumber(&mut self, numbers: &[Option<SourceIndex>]) {
        let renumber = |source: &mut SourceIndex| {
            *source = numbers.get(source.at()).copied().flatten().unwrap_or(*source);
        };
        for raw in &mut self.raws {
            for gave in &mut raw.at_seen {
                if let Gave::Row(source, _) = gave {
                    renumber(source);
                }
            }
            for head in &mut raw.heads {
                if let Content::Row { source, .. } = &mut head.content {
                    renumber(source);
                }
            }
        }
    }

    /// Raw partitions that are known.
    pub fn raws(&self) -> usize {
        self.raws.len()
    }
}
