//! What must come out of an experiment, and whether it did.

use super::measure::Measure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One expectation; exactly one of `is`, `above`, `below` and `between` stands in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What it means, in words.
    pub what: String,
    /// Label of the check that it belongs to.
    pub check: Option<String>,
    /// What is measured.
    pub value: Measure,
    /// It has this value, ...
    pub is: Option<Operand>,
    /// ... within this part of it.
    #[serde(default)]
    pub within: f64,
    /// It is more than this.
    pub above: Option<Operand>,
    /// It is less than this.
    pub below: Option<Operand>,
    /// It lies between these two, both included.
    pub between: Option<[f64; 2]>,
    /// By what the other side is multiplied first.
    #[serde(default = "one")]
    pub times: f64,
    /// The paper's value, for readers; it decides nothing.
    pub paper: Option<f64>,
}

fn one() -> f64 {
    1.0
}

/// A number, or what is measured elsewhere.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Operand {
    /// A number.
    Number(f64),
    /// A measure of the same experiment.
    Measure(Measure),
}

/// What became of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// What it means, in words.
    pub what: String,
    /// Label of the check that it belongs to.
    pub check: Option<String>,
    /// What was measured.
    pub measure: String,
    /// Its value; `null` where it could not be measured.
    pub value: Option<f64>,
    /// What it had to be, with the values of that moment.
    pub wanted: String,
    /// What the paper gives.
    pub paper: Option<f64>,
    /// Whether it holds.
    pub held: bool,
}

impl Expectation {
    /// Refuses an expectation that cannot be judged; `cases` are the names of all cases.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, cases: &BTreeSet<&str>) -> anyhow::Result<()> {
        let sides = [self.is.is_some(), self.above.is_some(), self.below.is_some(), self.between.is_some()];
        let what = &self.what;
        anyhow::ensure!(
            sides.iter().filter(|is| **is).count() == 1,
            "{what:?} needs exactly one of is, above, below and between"
        );
        match self.measures().find(|measure| !cases.contains(measure.case.as_str())) {
            Some(measure) => anyhow::bail!("{what:?}: there is no case {:?}", measure.case),
            None => Ok(()),
        }
    }

    /// All that is measured for it.
    pub fn measures(&self) -> impl Iterator<Item = &Measure> {
        let operands = [&self.is, &self.above, &self.below].into_iter().flatten();
        let others = operands.filter_map(|operand| match operand {
            Operand::Number(_) => None,
            Operand::Measure(measure) => Some(measure),
        });
        std::iter::once(&self.value).chain(others)
    }

    /// Whether it holds, by what `measured` gives.
    ///
    /// # Errors
    /// Those of `measured`.
    pub fn judge(&self, measured: impl Fn(&Measure) -> anyhow::Result<f64>) -> anyhow::Result<Judged> {
        let value = measured(&self.value)?;
        let side = |operand: &Operand| match operand {
            Operand::Number(number) => Ok((number * self.times, format!("{}", Shown(number * self.times)))),
            Operand::Measure(measure) => {
                let other = measured(measure)? * self.times;
                let times = if self.times == 1.0 { String::new() } else { format!("{} x ", self.times) };
                anyhow::Ok((other, format!("{} ({times}{measure})", Shown(other))))
            }
        };
        let (held, wanted) = if let Some(other) = &self.is {
            let (other, words) = side(other)?;
            let near = (value - other).abs() <= self.within * other.abs() + 1e-9;
            let within = if self.within > 0.0 {
                format!(" within {}%", Shown(100.0 * self.within))
            } else {
                String::new()
            };
            (near, format!("= {words}{within}"))
        } else if let Some(other) = &self.above {
            let (other, words) = side(other)?;
            (value > other, format!("> {words}"))
        } else if let Some(other) = &self.below {
            let (other, words) = side(other)?;
            (value < other, format!("< {words}"))
        } else {
            let [low, high] = self.between.unwrap_or_default();
            ((low..=high).contains(&value), format!("{} to {}", Shown(low), Shown(high)))
        };
        Ok(self.judged(Some(value), wanted, held))
    }

    /// An expectation of which nothing could be measured, and why.
    pub fn failed(&self, why: &anyhow::Error) -> Judged {
        self.judged(None, format!("{why:#}"), false)
    }

    fn judged(&self, value: Option<f64>, wanted: String, held: bool) -> Judged {
        Judged {
            what: self.what.clone(),
            check: self.check.clone(),
            measure: self.value.to_string(),
            value: value.filter(|value| value.is_finite()),
            wanted,
            paper: self.paper,
            held,
        }
    }
}

/// A figure with as many digits as a person wants to read.
pub struct Shown(pub f64);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size == 0.0 {
            // Without the sign that sums of nothing have.
            write!(f, "0")
        } else if self.0.fract() == 0.0 && size < 1e9 {
            write!(f, "{}", self.0)
        } else if size >= 1e9 {
            write!(f, "{:.3e}", self.0)
        } else if size >= 100.0 {
            write!(f, "{:.0}", self.0)
        } else if size >= 10.0 {
            write!(f, "{:.1}", self.0)
        } else {
            write!(f, "{:.3}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> bool {
        let expectation: Expectation =
            toml::from_str(&format!("what = 'w'\nvalue = 'a/regions()'\n{text}")).unwrap();
        expectation.check(&BTreeSet::from(["a", "b"])).unwrap();
        let measured = |measure: &Measure| Ok(if measure.case == "a" { 4.0 } else { 3.0 });
        expectation.judge(measured).unwrap().held
    }

    #[test]
    fn a_value_is_held_against_a_number_or_another_measure() {
        assert!(held("is = 4") && !held("is = 5") && held("is = 4.1\nwithin = 0.05"));
        assert!(held("above = 'b/regions()'") && !held("above = 'b/regions()'\ntimes = 2"));
        assert!(held("below = 4.5") && !held("below = 4"));
        assert!(held("between = [3, 4]") && !held("between = [4.5, 5]"));
    }

    #[test]
    fn an_expectation_without_a_side_or_with_two_is_refused() {
        for text in ["", "is = 1\nabove = 2", "is = 'c/regions()'"] {
            let text = format!("what = 'w'\nvalue = 'a/regions()'\n{text}");
            let expectation: Expectation = toml::from_str(&text).unwrap();
            assert!(expectation.check(&BTreeSet::from(["a", "b"])).is_err(), "{text}");
        }
    }
}
