//! The table in the repository, and the limits that must hold.

use crate::integration::fabric::score::{LossScore, Scores, score};
use samplers::lab::scenarios::ScenarioKind;
use schemas::Cause;
use std::fmt::Write;
use std::sync::OnceLock;

const SEEDS: std::ops::Range<u64> = 0..6;

/// Scores with forwarding tables and without; played once for all tests.
fn scores() -> &'static [Scores; 2] {
    static SCORES: OnceLock<[Scores; 2]> = OnceLock::new();
    SCORES.get_or_init(|| [score(SEEDS, true), score(SEEDS, false)])
}

#[test]
fn the_cause_is_right_in_95_percent_with_tables_85_without() {
    let [with, without] = scores();
    assert!(with.right()[0] >= 0.95, "{:?}\n{}", with.right(), wrong(with));
    assert!(without.right()[0] >= 0.85, "{:?}\n{}", without.right(), wrong(without));
}

#[test]
fn the_kind_is_right_in_95_of_100_regions() {
    for scores in scores() {
        assert!(scores.right()[1] >= 0.95, "{:?}\n{}", scores.right(), wrong(scores));
    }
}

#[test]
fn no_region_is_invented_and_none_is_missed() {
    for scores in scores() {
        assert_eq!(scores.false_regions(), 0, "{}", wrong(scores));
        assert_eq!(scores.missed, Vec::new());
    }
}

#[test]
fn earlier_job_loss_to_others_is_within_15_percent() {
    for scores in scores() {
        for loss in victims(scores) {
            let error = (loss.found_s - loss.truth_s).abs() / loss.truth_s;
            assert!(error <= 0.15, "{loss:?}");
        }
    }
}

#[test]
fn the_job_that_is_named_first_is_the_one_that_takes_most() {
    for scores in scores() {
        // Where all jobs overload all links, the largest of equals is chance.
        let named = scores.regions.iter().filter(|region| region.case != ScenarioKind::Capacity);
        let wrong: Vec<_> = named.filter(|region| region.culprit == Some(false)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

/// Jobs that ran before contention began; in the lab's cases the first one.
fn victims(scores: &Scores) -> impl Iterator<Item = &LossScore> {
    scores.losses.iter().filter(|loss| loss.job_id == 1 && loss.truth_s > 0.0)
}

fn wrong(scores: &Scores) -> String {
    let wrong = scores.regions.iter().filter(|region| region.truth != Some(region.found));
    wrong.map(|region| format!("{region:?}\n")).collect()
}

fn document() -> String {
    let [with, without] = scores();
    format!(
        "# Accuracy of regions, causes and losses on links\n\n\
         Written by `UPDATE_ACCURACY=1 cargo test --release -p detector fabric::`; the same tests hold the limits.\n\
         Cases and truth are those of the lab (`samplers/src/lab/scenarios.rs`), {} seeds each, 420 s, noise 5% on loads and\n\
         on stalls. The lab is a flow-level model of ours: its queues are those that the fabric assumes below saturation, and\n\
         its jobs wait for their slowest flow. A real machine is not as tidy; nothing here was measured on one.\n\n\
         A region's truth is that of its worst link in each second; of links within 15% of it, any kind is right. Precision: of the regions reported with this cause, those\n\
         that have it. Recall: of the regions that have it, those reported with it.\n\n\
         ## Causes\n\n{}\n## Causes without forwarding tables\n\n{}\n\
         ## All regions\n\n{}\n\
         ## Seconds that a job loses on links to others, of jobs that ran before\n\n{}\n\
         ## Slowdown of network-bound jobs, and its 95% interval\n\n\
         The job's result, ten other seeds each, of jobs that wait for their slowest flow (the limit is 15%), and how often the\n\
         interval holds the truth; then the same with a coupling drawn evenly from 0, as slow as the mean of the flows, to 1. Width:\n\
         median, of the slowdown found. Links do not show which flow a job waits for, so the interval reaches from the mean of the\n\
         flows to the slowest; where all flows cross one link it is narrow. Jobs that fill their links alone lose to themselves;\n\
         what a job's own queues below that cost it is no contention and not counted.\n\n{}\n\
         ## Jobs that came when contention began\n\n\
         No data shows what their links would do without the others, and below saturation stalls hardly show which job requests how\n\
         much. The limit is a tenth of the run for what others cost. `OtherJob`: it loads a link to 93% by itself, which counts in\n\
         the truth and is not reported.\n\n{}\n\
         ## A quiet machine of 5,000 routers\n\n\
         `detector/tests/quiet.rs` plays 200,000 links with steady traffic, from one that is just active to 70% of what a link\n\
         carries, noise of 5%, and background traffic of up to 10,000 flits a second that stalls in a tenth of the seconds; it counts\n\
         links of which a region could be made. 95% bound by the rule of three:\n\
         `cargo test --release -p detector quiet:: -- --ignored --nocapture` plays 3.1 days and fails from one a day. Ordinary\n\
         traffic that comes and goes makes no region in 4 h of a tree of 288 hosts (`fabric/quiet.rs`). Episodes of single links\n\
         with little more than background traffic are not rare; no region is made of them.\n",
        SEEDS.end,
        causes(with),
        causes(without),
        summary([with, without]),
        losses(with),
        crate::integration::fabric::slowdown::table(),
        crate::integration::fabric::slowdown::newcomers_table(),
    )
}

fn causes(scores: &Scores) -> String {
    let mut text = String::from("| cause | regions | precision | recall |\n|---|---|---|---|\n");
    // Clients and their servers are no links.
    for cause in Cause::ALL.into_iter().filter(|cause| !matches!(cause, Cause::Server | Cause::Node)) {
        let judged = || scores.regions.iter().filter_map(|region| Some((region.found.0, region.truth?.0)));
        let have = judged().filter(|(_, truth)| *truth == cause).count();
        let found = judged().filter(|(found, _)| *found == cause).count();
        let both = judged().filter(|(found, truth)| *found == cause && *truth == cause).count();
        let share = |of: usize| {
            if of == 0 { "-".to_string() } else { format!("{:.0}%", 100.0 * both as f64 / of as f64) }
        };
        writeln!(text, "| `{}` | {have} | {} | {} |", cause.name(), share(found), share(have)).unwrap();
    }
    text
}

fn summary(both: [&Scores; 2]) -> String {
    let mut text = String::from(
        "| | cases | regions | cause right | kind right | false | missed |\n|---|---|---|---|---|---|---|\n",
    );
    for (scores, name) in both.into_iter().zip(["with tables", "without"]) {
        let [cause, kind] = scores.right().map(|share| 100.0 * share);
        let (false_regions, missed) = (scores.false_regions(), scores.missed.len());
        let regions = scores.regions.len();
        writeln!(
            text,
            "| {name} | {} | {regions} | {cause:.0}% | {kind:.0}% | {false_regions} | {missed} |",
            scores.cases
        )
        .unwrap();
    }
    text
}

fn losses(scores: &Scores) -> String {
    let mut text = String::from(
        "| case | jobs | true (s, mean) | found (s, mean) | worst error |\n|---|---|---|---|---|\n",
    );
    for case in ScenarioKind::ALL {
        let of: Vec<&LossScore> = victims(scores).filter(|loss| loss.case == case).collect();
        if of.is_empty() {
            continue;
        }
        let mean =
            |value: fn(&LossScore) -> f64| of.iter().map(|loss| value(loss)).sum::<f64>() / of.len() as f64;
        let worst =
            of.iter().map(|loss| (loss.found_s - loss.truth_s).abs() / loss.truth_s).fold(0.0, f64::max);
        let (truth, found) = (mean(|loss| loss.truth_s), mean(|loss| loss.found_s));
        writeln!(text, "| {case:?} | {} | {truth:.1} | {found:.1} | {:.0}% |", of.len(), 100.0 * worst)
            .unwrap();
    }
    text
}

#[test]
fn the_table_in_the_repository_is_what_the_code_gives() {
    let folder = std::path::PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    // Without UPDATE_ACCURACY it is written all the same, elsewhere: the documented command has to work.
    let elsewhere = tempfile::tempdir().unwrap();
    let update = std::env::var_os("UPDATE_ACCURACY").is_some();
    let written = if update { &folder } else { elsewhere.path() }.join("ACCURACY_LINKS.md");
    std::fs::write(&written, document()).unwrap();
    let [fresh, kept] =
        [written, folder.join("ACCURACY_LINKS.md")].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(kept == fresh, "stale; write it again with UPDATE_ACCURACY=1\n{fresh}");
}
