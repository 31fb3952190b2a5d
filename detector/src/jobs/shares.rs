//! Causes of a job's loss as shares that add up to 1.
//!
//! Where no job is to blame a cause names a series. A job has a series of each of its nodes, so that a thousand of them
//! would each be too small to name: they are one cause, named after the series that lost most.

use schemas::{Cause, CauseKind, CauseShare};
use std::collections::BTreeMap;

/// Causes of a smaller share are not named: together they are unknown.
const LEAST_SHARE: f64 = 0.005;

/// Seconds by cause: its sort, the bottleneck, and the job or series that is named for it.
pub(super) type CauseSums = BTreeMap<(Cause, CauseKind, String), f64>;

/// Merges causes that name a series because no job is known: a server that became slower by file system, what is unknown
/// in all.
pub(super) fn merged(causes: CauseSums) -> CauseSums {
    let mut groups: BTreeMap<(Cause, CauseKind, String), (f64, f64, String)> = BTreeMap::new();
    for ((cause, kind, named), lost_s) in causes {
        let group = match cause {
            Cause::Unknown => String::new(),
            Cause::Server => named.rsplit('/').next().unwrap_or_default().to_string(),
            _ => named.clone(),
        };
        let (sum_s, most_s, most) = groups.entry((cause, kind, group)).or_default();
        *sum_s += lost_s;
        if lost_s > *most_s || most.is_empty() {
            (*most_s, *most) = (lost_s, named);
        }
    }
    let sums = groups.into_iter().map(|((cause, kind, _), (sum_s, _, named))| ((cause, kind, named), sum_s));
    sums.collect()
}

/// The causes of a loss of `total_s` by share, the largest first.
pub(super) fn shares(causes: CauseSums, total_s: f64) -> Vec<CauseShare> {
    if total_s <= 0.0 {
        return Vec::new();
    }
    let shares = merged(causes).into_iter().map(|((cause, kind, series_or_job), lost_s)| CauseShare {
        cause,
        kind,
        series_or_job,
        share: (lost_s / total_s).min(1.0),
    });
    let mut shares: Vec<CauseShare> = shares.filter(|cause| cause.share > LEAST_SHARE).collect();
    let rest = 1.0 - shares.iter().map(|cause| cause.share).sum::<f64>();
    match shares.iter_mut().find(|c| (c.cause, c.kind) == (Cause::Unknown, CauseKind::Unknown)) {
        Some(unknown) if rest > 0.0 => unknown.share += rest,
        None if rest > LEAST_SHARE => shares.push(CauseShare {
            cause: Cause::Unknown,
            kind: CauseKind::Unknown,
            series_or_job: String::new(),
            share: rest,
        }),
        _ => {}
    }
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(causes: &[(Cause, &str, f64)]) -> CauseSums {
        causes.iter().map(|(cause, who, s)| ((*cause, CauseKind::Capacity, (*who).to_string()), *s)).collect()
    }

    #[test]
    fn a_thousand_nodes_behind_one_slow_server_have_one_cause() {
        let series: Vec<String> = (0..1000).map(|n| format!("lustre_write_rate/nid{n}/scratch")).collect();
        let mut causes: Vec<_> = series.iter().map(|name| (Cause::Server, name.as_str(), 0.08)).collect();
        causes[7].2 = 0.1;
        causes.push((Cause::Server, "lustre_write_rate/nid0/home", 20.0));
        let found = shares(sums(&causes), 100.02);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].series_or_job, "lustre_write_rate/nid7/scratch");
        assert!((found[0].share - 0.8).abs() < 1e-3 && (found[1].share - 0.2).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn what_no_cause_explains_is_unknown_and_shares_add_up_to_1() {
        let mut causes = sums(&[(Cause::OtherJob, "7", 3.0)]);
        causes.extend(sums(&[(Cause::OtherJob, "8", 0.01), (Cause::OtherJob, "9", 0.01)]));
        let found = shares(causes, 10.0);
        let unknown = found.iter().find(|c| c.cause == Cause::Unknown).unwrap();
        assert!((unknown.share - 0.7).abs() < 1e-9 && found.len() == 2, "{found:?}");
    }
}
