//! A region and its jobs give one answer: what a job lost in the only region that it lost time in is what it lost on links.

use crate::integration::fabric::play::{Played, play};
use samplers::lab::scenarios::{ScenarioKind, labelled};
use samplers::parallel::at_once;
use schemas::{Interval, Name};

/// Seeds of each class.
const SEEDS: std::ops::Range<u64> = 100..103;
/// Largest difference between both losses, as a part of the loss and in seconds: a region is not reported again for less.
const UNREPORTED: f64 = 0.015;
const UNREPORTED_S: f64 = 0.1;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= (UNREPORTED * a.max(b)).max(UNREPORTED_S)
}

fn agree(of_region: &Interval, of_job: &Interval) -> bool {
    near(of_region.value, of_job.value) && near(of_region.lo, of_job.lo) && near(of_region.hi, of_job.hi)
}

/// What each job lost that lost time in one region alone: in that region, and by its own result.
fn losses(played: &Played) -> Vec<(Name, Interval, Interval)> {
    let victims = played.regions.iter().flat_map(|region| &region.victims);
    let all: Vec<(Name, Interval)> = victims.map(|victim| (victim.job_id.clone(), victim.lost_s)).collect();
    let alone = all.iter().filter(|(job, _)| all.iter().filter(|(other, _)| other == job).count() == 1);
    let with_result = alone.filter_map(|(job, of_region)| {
        let result = played.results.get(&job.as_str().parse().ok()?)?;
        Some((job.clone(), *of_region, result.lost_s()))
    });
    with_result.collect()
}

#[test]
fn region_and_job_give_one_loss() {
    let cases = ScenarioKind::ALL.into_iter().flat_map(|kind| SEEDS.map(move |seed| (kind, seed)));
    let cases: Vec<(ScenarioKind, u64)> = cases.collect();
    let found = at_once(None, &cases, |(kind, seed)| losses(&play(&labelled(*kind, *seed).unwrap(), true)));
    let (mut compared, mut apart) = (0, Vec::new());
    for (case, losses) in cases.iter().zip(found) {
        for (job, of_region, of_job) in losses {
            compared += 1;
            if !agree(&of_region, &of_job) {
                apart.push(format!("{case:?} job {job}: region {of_region}, job {of_job}"));
            }
        }
    }
    assert!(compared >= 20, "{compared}");
    assert!(apart.is_empty(), "{} of {compared}:\n{}", apart.len(), apart.join("\n"));
}
