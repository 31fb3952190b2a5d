//! Sources of a job's loss to others: the jobs whose flows cross the links on which it waits.
//!
//! A region may join links that no flow connects, since they touch at one switch: two jobs in each half of a machine do not
//! take anything from each other.

use super::cause::{Lost, Parties, Party, Use};
use schemas::{Cause, Name};
use std::collections::BTreeMap;

/// Each other job's part of others' messages and of others' I/O on the links on which `victim` loses, weighted by what it
/// loses on each. Parts of one class add up to 1 where any job is known.
pub(super) fn of_others(
    parties: &Parties,
    victim: &Party,
    on_links: &[Lost],
) -> BTreeMap<(Cause, Name), f64> {
    let weights: BTreeMap<u32, f64> =
        victim.uses.iter().zip(on_links).map(|(used, lost)| (used.series, lost.others())).collect();
    let others = parties.jobs.iter().filter(|party| party.job_id != victim.job_id);
    let met = |party: &Party, of: fn(&Use) -> f64| -> f64 {
        let on = |used: &Use| weights.get(&used.series).map_or(0.0, |weight| weight * of(used));
        party.uses.iter().map(on).sum()
    };
    let met: Vec<(&Name, f64, f64)> = others
        .map(|party| (&party.job_id, met(party, Use::messages), met(party, |used| used.part * used.io)))
        .collect();
    let all_mpi: f64 = met.iter().map(|(_, mpi, _)| mpi).sum();
    let all_io: f64 = met.iter().map(|(.., io)| io).sum();
    let mut shares = BTreeMap::new();
    for (job_id, mpi, io) in met {
        if mpi > 0.0 {
            shares.insert((Cause::OtherJob, job_id.clone()), mpi / all_mpi);
        }
        if io > 0.0 {
            shares.insert((Cause::IoOnMpi, job_id.clone()), io / all_io);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(number: &str, uses: &[(u32, f64, f64)]) -> Party {
        let used = |(series, part, io): &(u32, f64, f64)| Use {
            series: *series,
            part: *part,
            wanted_part: *part,
            crosses: 0.5,
            io: *io,
            others_io: 0.0,
            unknown: 0.0,
            fallen: 0.0,
            before_bytes_per_s: None,
        };
        let job_id = Name::parse(number).unwrap();
        Party { job_id, uses: uses.iter().map(used).collect(), mpi: 0.2, io: 0.0, evidence: Vec::new() }
    }

    fn lost(mpi: f64) -> Lost {
        Lost { mpi, ..Lost::default() }
    }

    #[test]
    fn a_job_on_other_links_of_the_region_is_no_cause() {
        let jobs = vec![
            party("1", &[(10, 0.3, 0.0), (11, 0.3, 0.0)]),
            party("2", &[(10, 0.7, 0.0), (11, 0.6, 0.0)]),
            party("3", &[(20, 0.3, 0.0)]),
            party("4", &[(20, 0.7, 0.0), (11, 0.1, 1.0)]),
        ];
        let parties = Parties { jobs, ..Parties::default() };
        let shares = of_others(&parties, &parties.jobs[0], &[lost(0.5), lost(0.4)]);
        let of = |cause, job: &str| shares.get(&(cause, Name::parse(job).unwrap())).copied();
        assert_eq!(of(Cause::OtherJob, "2"), Some(1.0));
        assert_eq!((of(Cause::OtherJob, "3"), of(Cause::OtherJob, "4")), (None, None));
        assert_eq!(of(Cause::IoOnMpi, "4"), Some(1.0));
    }

    #[test]
    fn others_on_several_links_are_weighted_by_what_is_lost_there() {
        let jobs = vec![
            party("1", &[(10, 0.5, 0.0), (11, 0.5, 0.0)]),
            party("2", &[(10, 0.5, 0.0)]),
            party("3", &[(11, 0.5, 0.0)]),
        ];
        let parties = Parties { jobs, ..Parties::default() };
        let shares = of_others(&parties, &parties.jobs[0], &[lost(0.6), lost(0.2)]);
        let of = |job: &str| shares[&(Cause::OtherJob, Name::parse(job).unwrap())];
        assert!((of("2") - 0.75).abs() < 1e-9 && (of("3") - 0.25).abs() < 1e-9, "{shares:?}");
    }
}
