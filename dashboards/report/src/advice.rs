//! What can be done about a loss, by cause and kind. Nothing is advised where neither is known.

use crate::PostMortem;
use crate::labels::printable;
use schemas::{Cause, CauseKind, CauseShare};

/// Causes of a smaller share get no advice.
const SHARE_MIN: f64 = 0.1;
/// Most sentences.
const SENTENCES: usize = 3;

/// One sentence a large cause, the largest first; without data how to find out why.
pub(crate) fn advice(facts: &PostMortem) -> Vec<String> {
    let Some(result) = facts.seen() else {
        return vec!["`tailback doctor` shows whether the job's nodes report.".to_string()];
    };
    if result.slowdown_hi_s > 0.0 && result.judged <= 0.0 {
        return vec![
            "Its next run is judged by what this one shows; `tailback report --compare` compares them."
                .to_string(),
        ];
    }
    let mut sentences: Vec<String> = Vec::new();
    let large = result.causes.iter().filter(|c| c.share >= SHARE_MIN && result.slowdown_s > 0.0);
    for sentence in large.filter_map(sentence) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.truncate(SENTENCES);
    sentences
}

fn sentence(of: &CauseShare) -> Option<String> {
    let source = printable(&of.series_or_job);
    let job = match source.as_str() {
        "" | "another job" => "the other job".to_string(),
        source if source.contains('/') => format!("the traffic on {source}"),
        source => format!("job {source}"),
    };
    Some(match (of.cause, of.kind) {
        (Cause::SelfInflicted, CauseKind::Avoidable) => {
            "Parallel links idle beside those that the job fills: spread its nodes, or use adaptive routing."
                .to_string()
        }
        (Cause::SelfInflicted, CauseKind::Endpoint) => {
            "Many of its ranks send to few receivers: stripe its files wider, or use more ranks for I/O."
                .to_string()
        }
        (Cause::SelfInflicted, _) => {
            "The job fills the resource by itself: fewer writers at a time cost nothing.".to_string()
        }
        (Cause::OtherJob, CauseKind::Avoidable) => {
            format!("Parallel links idle: place the job apart from {job}, or reroute.")
        }
        (Cause::OtherJob, CauseKind::Endpoint) => {
            format!("One receiver takes no more: keep the job and {job} off the same server or node.")
        }
        (Cause::OtherJob, _) => {
            format!("The resource is full: run the job when {job} does not, or limit the rate of {job}.")
        }
        (Cause::IoOnMpi, _) => {
            format!("Keep I/O off the links of messages: {job} can write through other routers or slower.")
        }
        (Cause::FailoverInduced, _) => {
            format!("Repair the path {source}; until then avoid the nodes behind it.")
        }
        (Cause::Server, _) => format!(
            "The servers of {} became slower for all clients: report it to their operators.",
            last(&source)
        ),
        (Cause::Node, _) => {
            format!("Exclude node {}, and have it checked.", source.split('/').nth(1).unwrap_or(&source))
        }
        (Cause::Unknown, _) => return None,
    })
}

/// A series of a client names the file system last.
fn last(series: &str) -> &str {
    series.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("the file system")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_cause_has_advice_that_names_its_source() {
        for cause in Cause::ALL {
            for kind in CauseKind::ALL {
                let of = CauseShare {
                    cause,
                    kind,
                    series_or_job: "lustre_write_rate/n1/scratch".to_string(),
                    share: 1.0,
                };
                let found = sentence(&of);
                assert_eq!(found.is_none(), cause == Cause::Unknown, "{cause:?} {kind:?}");
            }
        }
        let of = |cause, source: &str| {
            sentence(&CauseShare {
                cause,
                kind: CauseKind::Capacity,
                series_or_job: source.to_string(),
                share: 1.0,
            })
            .unwrap()
        };
        assert!(of(Cause::OtherJob, "7").contains("limit the rate of job 7"));
        assert!(of(Cause::OtherJob, "").contains("limit the rate of the other job"));
        assert!(of(Cause::Server, "lustre_write_rate/n1/scratch").contains("servers of scratch"));
        assert!(of(Cause::Node, "lustre_write_rate/n1/scratch").contains("node n1"));
    }
}
