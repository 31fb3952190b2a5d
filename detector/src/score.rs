//! A model alone on one bare series: what a scenario with a known truth is compared with.

use crate::model::{Bank, Closing, Judgement, ModelEvent, ModelKind, Params, Reading};
use schemas::{State, Time};

/// Output of a model for a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of the 95% interval.
    pub slowdown_lo_s: f64,
    /// Upper end of the 95% interval.
    pub slowdown_hi_s: f64,
    /// Seconds in contention, by the episodes' begin and end.
    pub contended_s: f64,
    /// Seconds whose signal said `contended` while they passed.
    pub flagged_s: f64,
    /// Episodes.
    pub episodes: usize,
}

/// Runs `model` over one reading a tick. No other client writes, so a fall is judged alone. Readings below
/// `active_from` are idle.
pub fn one_series(model: ModelKind, params: Params, readings: &[f64], active_from: f64) -> Verdict {
    let mut bank = Bank::new(model, params);
    bank.add();
    let mut verdict = Verdict::default();
    let mut ended: Vec<Closing> = Vec::new();
    for (tick, value) in readings.iter().enumerate() {
        let time = Time::from_seconds((tick + 1) as f64 * params.tick_s);
        let active = *value >= active_from;
        let event = bank.update(0, &Reading { time, value: *value, span_ticks: 1, active });
        note(&mut ended, event);
        match event {
            ModelEvent::Suspected(_) => note(&mut ended, bank.judge(0, Judgement::Alone)),
            ModelEvent::Warmed(_) => note(&mut ended, bank.accept(0)),
            _ => {}
        }
        if bank.knowledge(0).state == State::Contended {
            verdict.flagged_s += params.tick_s;
        }
    }
    note(&mut ended, bank.restart(0));
    verdict.slowdown_s = ended.iter().fold(0.0, |sum, c| sum + c.loss.lost_s);
    verdict.contended_s = ended.iter().fold(0.0, |sum, c| sum + c.end.seconds_since(c.start));
    let half_width_s = ended.iter().map(|c| c.half_width_s.powi(2)).sum::<f64>().sqrt();
    verdict.slowdown_lo_s = verdict.slowdown_s - half_width_s;
    verdict.slowdown_hi_s = verdict.slowdown_s + half_width_s;
    verdict.episodes = ended.len();
    verdict
}

fn note(ended: &mut Vec<Closing>, event: ModelEvent) {
    match event {
        ModelEvent::Ended(closing) => ended.push(closing),
        ModelEvent::Settled(closing) => {
            ended.pop();
            ended.push(closing);
        }
        _ => {}
    }
}
