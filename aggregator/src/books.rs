//! The decoder's books that grow with names: their size and their end.

use crate::decode::Decoder;
use schemas::Time;

impl Decoder {
    /// Whether rows of further sources are dropped.
    pub fn is_full(&self) -> bool {
        self.registry.sources.as_slice().len() >= self.registry.sources_max
    }

    /// Forgets all sources, so that those which report no more take no memory: the others get new numbers with their next
    /// rows. What was decoded before must have been used. Of nodes' jobs, those without a row since `before` are forgotten.
    pub fn forget_sources(&mut self, before: Time) {
        self.registry.forget();
        self.job_column.forget(before);
    }

    /// Entries of the books that grow with names.
    pub fn books(&self) -> Vec<(&'static str, usize)> {
        let [nodes, jobs] = self.job_column.sizes();
        let sources = self.registry.sources.as_slice().len();
        vec![("decoded_sources", sources), ("nodes_with_jobs", nodes), ("carried_jobs", jobs)]
    }
}
