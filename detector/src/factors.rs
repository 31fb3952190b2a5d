//! The three factors of a job's loss: itself, other jobs, placement; never one number (Kang 2019; GUIDE section 3).
//!
//! Each factor is a quotient of two times that differ in one condition alone. Times are of any sort, message latencies
//! or runs, as long as all of them are of the same sort and unit. What was not measured gives no factor: that is not 1.
//!
//! | factor | over | under | held fixed |
//! |---|---|---|---|
//! | `S_intra`, itself | alone | alone at light load | placement |
//! | `S_inter`, other jobs | beside others | alone | intensity and placement |
//! | `S_place`, placement | alone | alone at another placement | intensity |

pub mod learnt;

use schemas::Cause;

/// A factor below which nothing is worth a cause.
const WORTH: f64 = 1.05;

/// What an application takes under conditions that differ in one thing each; `None` where it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Alone, at this placement, at light load.
    pub light: Option<f64>,
    /// Alone, at this placement and intensity.
    pub alone: Option<f64>,
    /// Beside other jobs, at this placement and intensity.
    pub beside_others: Option<f64>,
    /// Alone, at this intensity, at the placement to compare with.
    pub elsewhere: Option<f64>,
}

/// Factors, each at least 0; 1 costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// `S_intra`: what the job's own intensity costs.
    pub itself: Option<f64>,
    /// `S_inter`: what other jobs cost.
    pub other_jobs: Option<f64>,
    /// `S_place`: what this placement costs against the other one; below 1 it is the better one.
    pub placement: Option<f64>,
}

impl Factors {
    /// From times. A time that is not above 0, or not finite, counts as not measured.
    pub fn of(times: &Times) -> Factors {
        Factors {
            itself: quotient(times.alone, times.light),
            other_jobs: quotient(times.beside_others, times.alone),
            placement: quotient(times.alone, times.elsewhere),
        }
    }

    /// The largest known cost: the job itself or others. `None`: both are known, and neither costs anything
    /// worth reporting. Placement is no cause: it is what the other two may be compared at.
    pub fn cause(&self) -> Option<Cause> {
        let known = [(self.itself, Cause::SelfInflicted), (self.other_jobs, Cause::OtherJob)];
        let costs = known.iter().filter_map(|(factor, cause)| Some(((*factor)?, *cause)));
        let worst = costs.filter(|(factor, _)| *factor >= WORTH).max_by(|a, b| a.0.total_cmp(&b.0));
        match worst {
            Some((_, cause)) => Some(cause),
            None if known.iter().all(|(factor, _)| factor.is_some()) => None,
            None => Some(Cause::Unknown),
        }
    }
}

fn quotient(over: Option<f64>, under: Option<f64>) -> Option<f64> {
    let is_time = |time: &f64| time.is_finite() && *time > 0.0;
    Some(over.filter(is_time)? / under.filter(is_time)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmeasured_condition_has_no_factor() {
        let times = Times { alone: Some(2.0), light: Some(0.0), ..Times::default() };
        assert_eq!(Factors::of(&times), Factors::default());
        assert_eq!(Factors::of(&times).cause(), Some(Cause::Unknown));
        let times = Times { alone: Some(f64::NAN), light: Some(1.0), ..Times::default() };
        assert_eq!(Factors::of(&times), Factors::default());
    }

    #[test]
    fn a_job_that_nothing_slows_has_no_cause() {
        let times = Times { light: Some(1.0), alone: Some(1.01), beside_others: Some(1.03), elsewhere: None };
        assert_eq!(Factors::of(&times).cause(), None);
    }
}
