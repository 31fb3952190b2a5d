//! What does not fit together: jobs none of whose nodes report, and ports that report and are not in the topology.

use aggregator::Decoded;
use detector::spellings::Spellings;
use schemas::{Job, Name, Sources};
use std::collections::BTreeMap;
use topology::UnknownPort;

/// Jobs or ports that are named; the rest is counted.
const NAMED: usize = 5;

/// The nodes of all jobs that a scheduler or a job file reported.
#[derive(Debug, Default)]
pub(super) struct JobNodes(BTreeMap<Name, Vec<Name>>);

impl JobNodes {
    /// Notes the jobs of a job file.
    pub(super) fn declare(&mut self, jobs: &[Job]) {
        self.0.extend(jobs.iter().map(|job| (job.job_id.clone(), job.nodes.clone())));
    }

    /// Notes the jobs among rows. Those that only rows' own columns show have nodes that report.
    pub(super) fn note(&mut self, decoded: &Decoded) {
        let reported = decoded.jobs.iter().filter(|event| !event.seen && !event.nodes.is_empty());
        self.0.extend(reported.map(|event| (event.job_id.clone(), event.nodes.clone())));
    }

    /// A line about the jobs none of whose nodes is a source, if there are any.
    pub(super) fn line(&self, sources: &Sources) -> Option<String> {
        let mut hosts = Spellings::default();
        for source in sources.as_slice() {
            hosts.add(&source.producer);
            hosts.add(&source.component);
        }
        let reports = |node: &Name| hosts.only(node).is_some() || hosts.has(node);
        let silent = self.0.iter().filter(|(_, nodes)| !nodes.iter().any(reports));
        let on_first = |(job, nodes): (&Name, &Vec<Name>)| Some(format!("{job} on {}", nodes.first()?));
        let named: Vec<String> = silent.filter_map(on_first).collect();
        let source = sources.as_slice().first()?;
        (!named.is_empty()).then(|| {
            let (count, named, as_in) = (named.len(), few(&named), source.producer.as_str());
            format!("jobs without rows of any node: {count} ({named}); rows name nodes as in {as_in:?}")
        })
    }
}

/// A line about ports that are not in the topology, if there are any.
pub(super) fn of_ports(unknown: &[UnknownPort]) -> Option<String> {
    let named: Vec<String> = unknown.iter().map(|port| port.series.clone()).collect();
    (!named.is_empty()).then(|| {
        let (count, named) = (named.len(), few(&named));
        format!("ports that are not in the topology: {count} ({named}); `tailback topology check --series` lists them")
    })
}

/// The first of many, and how many more there are.
fn few(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
