//! A loss in at most 50 characters, for a comment of a job in Slurm and the subject of a mail.

use crate::Interval;

/// Most characters.
pub const CHARACTERS: usize = 50;

/// What was lost, with its range, and the job that caused it where that is known and its number fits.
pub fn lost(of: Interval, cause: Option<&str>) -> String {
    let loss = if of.lo > 0.0 {
        let (unit, divisor) = unit(of.hi);
        let [value, lo, hi] = [of.value, of.lo, of.hi].map(|seconds| figure(seconds / divisor));
        format!("lost {value} {unit} [{lo}, {hi}]")
    } else {
        format!("may have lost up to {}", amount(of.hi))
    };
    let is_job =
        |id: &&str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.+-".contains(&b));
    let by_job = cause.filter(is_job).map(|id| format!("{loss} to job {id}"));
    by_job.filter(|text| text.len() <= CHARACTERS).unwrap_or_else(|| format!("{loss} to contention"))
}

/// Nothing was measured; `judged` is the share of the time that had a baseline, `hi_s` what may have been lost at most.
pub fn none(judged: f64, hi_s: f64) -> String {
    let most = amount(hi_s);
    if judged > 0.0 {
        format!("no loss measured, at most {most}")
    } else {
        format!("not judged, lost at most {most}")
    }
}

fn amount(seconds: f64) -> String {
    let (unit, divisor) = unit(seconds);
    format!("{} {unit}", figure(seconds / divisor))
}

/// The unit in which `most` seconds take at most four digits.
fn unit(most: f64) -> (&'static str, f64) {
    match most {
        s if s < 9_999.5 => ("s", 1.0),
        s if s < 9_999.5 * 3_600.0 => ("h", 3_600.0),
        _ => ("d", 86_400.0),
    }
}

fn figure(value: f64) -> String {
    let value = value.clamp(0.0, 99_999.0);
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_loss_takes_more_than_fifty_characters() {
        let values = [0.0, 0.04, 9.94, 9.96, 99.5, 1_234.5, 9_999.4, 9_999.6, 1e6, 3.6e7, 1e9, f64::INFINITY];
        let causes = [
            None,
            Some(""),
            Some("7"),
            Some("12345678_1234"),
            Some("aries_stall_ratio/c0-0c1s8/r0c3"),
            Some("another job"),
        ];
        let all = values.iter().flat_map(|value| values.map(|lo| (*value, lo)));
        for ((value, lo), hi) in all.flat_map(|pair| values.map(|hi| (pair, hi))) {
            for cause in causes {
                let text = lost(Interval { value, lo, hi }, cause);
                assert!(text.len() <= CHARACTERS && text.is_ascii(), "{} {text}", text.len());
            }
            assert!(none(value, hi).len() <= CHARACTERS && none(0.0, hi).len() <= CHARACTERS);
        }
    }

    #[test]
    fn a_loss_names_its_range_and_its_job() {
        let of = Interval { value: 213.0, lo: 207.1, hi: 219.4 };
        assert_eq!(lost(of, Some("4698")), "lost 213 s [207, 219] to job 4698");
        assert_eq!(lost(of, Some("another job")), "lost 213 s [207, 219] to contention");
        assert_eq!(lost(Interval { lo: 0.0, ..of }, None), "may have lost up to 219 s to contention");
        assert_eq!(
            lost(Interval { value: 7_200.0, lo: 3_600.0, hi: 14_400.0 }, None),
            "lost 2.0 h [1.0, 4.0] to contention"
        );
        assert_eq!(
            [none(1.0, 2.04), none(0.0, 473.0)],
            ["no loss measured, at most 2.0 s", "not judged, lost at most 473 s"]
        );
    }
}
