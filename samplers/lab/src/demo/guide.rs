//! What to look at while the demo plays, and when.

use samplers::jobs::{Behaviour, JobSpec};
use samplers::scenario;

/// How fast the demo's clock runs, in words.
pub fn clock_note(speed: f64) -> String {
    match speed {
        0.0 => "The demo's clock runs as fast as the machine can.".to_string(),
        1.0 => "The demo's clock runs as fast as a real one.".to_string(),
        speed => format!("The demo's clock runs {speed} times as fast as a real one."),
    }
}

/// One line for each beginning of contention in a round, from second `played` on: when by the demo's clock, after how many
/// seconds of waiting, and where on the page.
pub fn guide(speed: f64, played: u64) -> Vec<String> {
    let scenario = scenario::demo();
    let round_s = f64::from(scenario.duration_s.unwrap_or(1)).max(1.0);
    let mut lines = vec![format!("{} What to look at, in each round of {round_s:.0} s:", clock_note(speed))];
    let mut later: Vec<&JobSpec> = scenario.jobs.iter().filter(|job| job.start_s > 0.0).collect();
    later.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    for job in later {
        let wait_s = (job.start_s - played as f64 % round_s).rem_euclid(round_s);
        let wait = if speed > 0.0 { format!(", in {:.0} s", wait_s / speed) } else { String::new() };
        let (minutes, seconds) = (job.start_s as u64 / 60, job.start_s as u64 % 60);
        lines.push(format!("  {minutes}:{seconds:02} into the round{wait}: {}", what(job)));
    }
    lines
}

fn what(job: &JobSpec) -> String {
    let (name, user) = (&job.name, &job.user);
    match job.behaviour {
        Behaviour::Write { .. } => {
            format!(
                "{name} of {user} writes from {} nodes: who wrote before loses bandwidth (Files, Jobs)",
                job.nodes.len()
            )
        }
        _ => format!(
            "{name} of {user} fills the links between routers: jobs that share them wait (Fabric, Jobs)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guide_has_every_later_job_in_order_and_scales_its_waits() {
        let lines = guide(10.0, 0);
        assert_eq!(
            lines[0],
            "The demo's clock runs 10 times as fast as a real one. What to look at, in each round of 480 s:"
        );
        assert!(
            lines[1].starts_with("  0:58 into the round, in 6 s: imb_alltoall of frank fills"),
            "{}",
            lines[1]
        );
        assert!(
            lines[2].starts_with("  2:00 into the round, in 12 s: ior_storm_1 of bob writes from 15 nodes"),
            "{}",
            lines[2]
        );
        assert_eq!(lines.len(), 3);
        // A demo that continues at 3:00 of its second round.
        assert!(guide(10.0, 480 + 180)[1].contains("in 36 s"));
        assert!(!guide(0.0, 0)[1].contains("in "), "{}", guide(0.0, 0)[1]);
    }
}
