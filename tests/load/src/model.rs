//! Counters of all links and clients, and their spans of contention.

use crate::rng::Rng;
use crate::site::{Site, client_series, tile_series};
use samplers::aries::{CHANNELS, TILES};

/// Counters of one tile: flits of virtual channel 0 to 7, then stalls.
pub type Tile = [u64; CHANNELS + 1];

/// How flits spread over the virtual channels: requests and responses on four, little on the rest.
const CHANNEL_PARTS: [f32; CHANNELS] = [0.245, 0.245, 0.005, 0.005, 0.245, 0.245, 0.005, 0.005];
/// Relative noise of a second: flits, stall ratio, bytes written.
const FLIT_NOISE: f32 = 0.15;
const RATIO_NOISE: f32 = 0.10;
const WRITE_NOISE: f32 = 0.04;
/// Links and clients of one Trinity that suffer once in a run.
const CONTENDED_TILES: f64 = 300.0;
const CONTENDED_CLIENTS: f64 = 320.0;
/// Neighbours that suffer together: tiles of one router, clients of one job.
const TILES_TOGETHER: u32 = 5;
const CLIENTS_TOGETHER: u32 = 20;

/// A stretch of contention of one series: what happens after second `from` and up to second `to` of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Name of the series.
    pub series: String,
    /// First second.
    pub from: u32,
    /// Last second.
    pub to: u32,
    /// What the level of ratio or rate is multiplied with.
    pub factor: f32,
    index: u32,
    link: bool,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// Flits or bytes a second.
    amount: f32,
    /// Stalls per flit; 0 for a client.
    ratio: f32,
    /// 1, or the factor of the current span.
    factor: f32,
}

/// All counters of the machine.
#[derive(Clone, Debug)]
pub struct Model {
    /// Counters of all tiles, router after router.
    pub tiles: Vec<Tile>,
    /// Bytes written by all clients.
    pub clients: Vec<u64>,
    tile_levels: Vec<Level>,
    client_levels: Vec<Level>,
    spans: Vec<Span>,
    noise: Rng,
    second: u32,
}

impl Model {
    /// The machine at second 0 of a run of so many seconds.
    pub fn new(site: Site, seconds: u32, seed: u64) -> Model {
        let mut rng = Rng::new(seed, 1);
        // Twelve digits, as on a machine that has been up for days.
        let mut counter = || rng.between(1e10, 9e11) as u64;
        let tiles = (0..site.tiles()).map(|_| std::array::from_fn(|_| counter())).collect();
        let clients = (0..site.nodes()).map(|_| counter()).collect();
        let mut level = |low: f64, high: f64, ratio: f64| Level {
            amount: rng.log_between(low, high) as f32,
            ratio: (ratio * rng.log_between(0.5, 2.0)) as f32,
            factor: 1.0,
        };
        Model {
            tiles,
            clients,
            tile_levels: (0..site.tiles()).map(|_| level(3e6, 3e8, 0.04)).collect(),
            client_levels: (0..site.nodes()).map(|_| level(5e7, 1e9, 0.0)).collect(),
            spans: spans(site, seconds, seed),
            noise: Rng::new(seed, 2),
            second: 0,
        }
    }

    /// The spans of contention.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Advances by one second.
    pub fn advance(&mut self) {
        self.second += 1;
        for span in &self.spans {
            let levels = if span.link { &mut self.tile_levels } else { &mut self.client_levels };
            if let Some(level) = levels.get_mut(span.index as usize) {
                level.factor =
                    if (span.from + 1..=span.to).contains(&self.second) { span.factor } else { 1.0 };
            }
        }
        for (tile, level) in self.tiles.iter_mut().zip(&self.tile_levels) {
            let (flit_noise, ratio_noise) = self.noise.factors(FLIT_NOISE, RATIO_NOISE);
            let flits = level.amount * flit_noise;
            for (counter, part) in tile.iter_mut().zip(CHANNEL_PARTS) {
                *counter = counter.wrapping_add((flits * part) as u64);
            }
            let stalls = flits * level.ratio * level.factor * ratio_noise;
            tile[CHANNELS] = tile[CHANNELS].wrapping_add(stalls as u64);
        }
        for (written, level) in self.clients.iter_mut().zip(&self.client_levels) {
            let (noise, _) = self.noise.factors(WRITE_NOISE, 0.0);
            *written = written.wrapping_add((level.amount * level.factor * noise) as u64);
        }
    }
}

/// Each series suffers once at most, after a third of the run: by then every model has its baseline.
fn spans(site: Site, seconds: u32, seed: u64) -> Vec<Span> {
    let mut rng = Rng::new(seed, 3);
    let share = f64::from(site.routers) / crate::site::TRINITY_ROUTERS;
    let mut spans = Vec::new();
    for (link, count, together, all) in [
        (true, CONTENDED_TILES * share, TILES_TOGETHER, site.tiles()),
        (false, CONTENDED_CLIENTS * share, CLIENTS_TOGETHER, site.nodes()),
    ] {
        let groups = (count / f64::from(together)).ceil() as u32;
        // Groups at even distances, shifted inside their stretch, cannot overlap.
        let stretch = all / groups.max(1);
        for group in 0..groups {
            let room = stretch.saturating_sub(if link { TILES } else { together });
            let mut first = group * stretch + rng.below(room);
            if link {
                first = first.next_multiple_of(TILES) + rng.below(TILES - together);
            }
            let from = (f64::from(seconds) * rng.between(0.35, 0.6)) as u32;
            let length = (f64::from(seconds) * rng.between(0.1, 0.3)).max(10.0) as u32;
            let to = (from + length).min(seconds.saturating_sub(1));
            if from >= to {
                continue;
            }
            let factor = if link { rng.between(6.0, 30.0) } else { rng.between(0.3, 0.65) } as f32;
            for index in first..(first + together).min(all) {
                let series = if link { tile_series(index) } else { client_series(index) };
                spans.push(Span { series, from, to, factor, index, link });
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_series_suffers_once_at_most_and_within_the_run() {
        for trinities in [0.0002, 0.002, 0.05, 1.0] {
            let spans = spans(Site::of_trinities(trinities), 120, 7);
            let names: BTreeSet<&str> = spans.iter().map(|span| span.series.as_str()).collect();
            assert_eq!(names.len(), spans.len(), "{trinities}");
            assert!(spans.iter().all(|s| 40 <= s.from && s.from < s.to && s.to < 120), "{trinities}");
        }
        assert_eq!(spans(Site::of_trinities(1.0), 120, 7).len(), 620);
    }

    #[test]
    fn stalls_rise_and_writes_fall_in_their_spans_and_only_there() {
        let site = Site::of_trinities(0.01);
        let mut model = Model::new(site, 60, 1);
        let spans = model.spans.clone();
        let ratio = |now: &Tile, then: &Tile| {
            let flits: u64 = (0..CHANNELS).map(|v| now[v] - then[v]).sum();
            (now[CHANNELS] - then[CHANNELS]) as f64 / flits as f64
        };
        for second in 1..60 {
            let (tiles, clients) = (model.tiles.clone(), model.clients.clone());
            model.advance();
            for span in &spans {
                let at = span.index as usize;
                let level = if span.link { model.tile_levels[at] } else { model.client_levels[at] };
                let relative = if span.link {
                    ratio(&model.tiles[at], &tiles[at]) / f64::from(level.ratio)
                } else {
                    (model.clients[at] - clients[at]) as f64 / f64::from(level.amount)
                };
                let expected = if span.from < second && second <= span.to { span.factor } else { 1.0 };
                assert!(
                    (0.6..1.5).contains(&(relative / f64::from(expected))),
                    "{second} {span:?} {relative}"
                );
            }
        }
    }
}
