//! A made-up cluster: every figure is a function of time, so that any tick can be asked for.

/// Seconds of history before the page starts.
pub const HISTORY_S: f64 = 900.0;
/// Seconds after the start for which contention is planned.
const PLANNED_S: f64 = 7_200.0;

/// A planned stretch of contention.
pub struct Span {
    pub id: u32,
    pub start: f64,
    pub end: f64,
    pub causes: &'static str,
}

/// How a series behaves.
#[derive(Clone, Copy, PartialEq)]
pub enum Nature {
    Busy,
    Idle,
    /// Seen for a short time: no baseline yet.
    New,
    /// Its producer fell silent.
    Silent,
}

pub struct Series {
    pub metric: &'static str,
    pub component: String,
    pub part: Option<String>,
    pub baseline: f64,
    /// The mean while contended, as a multiple of the baseline.
    pub contended_factor: f64,
    pub nature: Nature,
    pub spans: Vec<Span>,
    seed: f64,
}

/// One tick of one series; figures that do not exist are `None`.
pub struct Reading {
    pub value: Option<f64>,
    pub mean: Option<f64>,
    pub baseline: Option<f64>,
    pub bound: Option<f64>,
    pub state: &'static str,
    pub slowdown_s: f64,
}

/// Routers of a chassis.
pub const SLOTS: usize = 16;

/// The chassis with this number, in one row of cabinets of three.
pub fn chassis_name(number: usize) -> String {
    format!("c{}-0c{}", number / 3, number % 3)
}

pub struct Cluster {
    pub start: f64,
    pub routers: usize,
    pub series: Vec<Series>,
}

pub const AGGRESSOR: &str = r#"[{"cause":"other_job","kind":"endpoint","series_or_job":"4711","share":0.81},
    {"cause":"unknown","kind":"unknown","series_or_job":"lustre_write_rate/nid00012/snx11137","share":0.12}]"#;
const OWN_TRAFFIC: &str = r#"[{"cause":"self","kind":"capacity","series_or_job":"4712","share":0.64},
    {"cause":"io_on_mpi","kind":"avoidable","series_or_job":"4711","share":0.28}]"#;

impl Cluster {
    pub fn new(routers: usize, start: f64) -> Cluster {
        let mut cluster = Cluster { start, routers, series: Vec::new() };
        for number in 0..routers {
            cluster.add_router(number, routers);
        }
        cluster.add_clients();
        for number in 0..12 {
            cluster.add(
                "ib_wait_ratio",
                format!("nid{:05}", 100 + number),
                Some("1"),
                0.04,
                6.0,
                Nature::Busy,
            );
        }
        cluster.plan();
        cluster
    }

    fn add_router(&mut self, number: usize, routers: usize) {
        let name = format!("{}s{}", chassis_name(number / SLOTS), number % SLOTS);
        let whole = match number {
            n if n + 1 == routers => Nature::New,
            n if n + 4 == routers => Nature::Silent,
            _ => Nature::Busy,
        };
        for tile in 0..40 {
            let unused = whole == Nature::Busy && (tile * 7 + number * 3).is_multiple_of(11);
            let nature = if unused { Nature::Idle } else { whole };
            let part = format!("r{}c{}", tile / 8, tile % 8);
            let baseline = 0.15 + 0.05 * ((tile * 13 + number * 5) % 9) as f64;
            self.add(
                "aries_stall_ratio",
                name.clone(),
                Some(&part),
                baseline,
                2.0 + (tile % 5) as f64 * 0.7,
                nature,
            );
        }
        self.add("aries_stall_ratio", name, None, 0.35, 1.6, whole);
    }

    fn add_clients(&mut self) {
        self.add("lustre_write_rate", "nid00012".into(), Some("snx11137"), 1.0e9, 0.67, Nature::Busy);
        self.add("lustre_write_rate", "nid00040".into(), Some("snx11137"), 1.4e9, 0.95, Nature::Busy);
    }

    fn add(
        &mut self,
        metric: &'static str,
        component: String,
        part: Option<&str>,
        base: f64,
        factor: f64,
        nature: Nature,
    ) {
        let seed = self.series.len() as f64;
        self.series.push(Series {
            metric,
            component,
            part: part.map(str::to_string),
            baseline: base,
            contended_factor: factor,
            nature,
            spans: Vec::new(),
            seed,
        });
    }

    /// The real case: a write rate of 1.0 GB/s falls to 0.67 for 96 s; and routers in the middle with hot tiles.
    fn plan(&mut self) {
        let start = self.start;
        let mut id = 1;
        let mut span = |from: f64, length: f64, causes| {
            id += 1;
            Span { id: id - 1, start: from, end: from + length, causes }
        };
        for (number, series) in self.series.iter_mut().enumerate() {
            let router = number / 41;
            let hot = series.metric == "aries_stall_ratio"
                && series.nature == Nature::Busy
                && (9..14).contains(&(router % 97))
                && (number % 41 == 40 || number * 17 % 5 < 2 && number % 41 < 24);
            let victim = series.component == "nid00012";
            let waiting = series.metric == "ib_wait_ratio" && number.is_multiple_of(6);
            if victim {
                series.spans.push(span(start - 396.0, 96.0, AGGRESSOR));
            }
            if !(hot || victim || waiting) {
                continue;
            }
            let phase = if victim { -20.0 } else { -140.0 - (number % 13) as f64 * 9.0 };
            let period = if victim { 400.0 } else { 310.0 };
            let mut at = start + phase;
            while at < start + PLANNED_S {
                let causes = if victim { AGGRESSOR } else { OWN_TRAFFIC };
                at = at.round();
                series.spans.push(span(at, 150.0 + (number % 4) as f64 * 15.0, causes));
                at += period;
            }
        }
    }
}

impl Series {
    pub fn name(&self) -> String {
        match &self.part {
            Some(part) => format!("{}/{}/{part}", self.metric, self.component),
            None => format!("{}/{}", self.metric, self.component),
        }
    }

    /// Share of a second that is lost per contended second.
    fn loss_rate(&self) -> f64 {
        if self.contended_factor < 1.0 {
            1.0 - self.contended_factor
        } else {
            0.25 * (1.0 - 1.0 / self.contended_factor)
        }
    }

    /// Seconds lost in a span until `time`.
    pub fn lost_in(&self, span: &Span, time: f64) -> f64 {
        (time.min(span.end) - span.start).max(0.0) * self.loss_rate()
    }

    fn noise(&self, time: f64) -> f64 {
        let x = (time * 12.989 + self.seed * 78.233).sin() * 43_758.547;
        (x - x.floor()) * 2.0 - 1.0
    }

    pub fn peak(&self) -> f64 {
        self.baseline * self.contended_factor
    }

    pub fn reading(&self, time: f64) -> Reading {
        let slowdown_s = self.spans.iter().map(|span| self.lost_in(span, time)).sum();
        let nothing =
            Reading { value: None, mean: None, baseline: None, bound: None, state: "unknown", slowdown_s };
        match self.nature {
            Nature::Silent => nothing,
            Nature::Idle => Reading { value: Some(0.0), state: "idle", ..nothing },
            Nature::New => {
                Reading { value: Some(self.baseline), mean: Some(self.baseline), state: "warmup", ..nothing }
            }
            Nature::Busy => self.busy(time, slowdown_s),
        }
    }

    fn busy(&self, time: f64, slowdown_s: f64) -> Reading {
        let inside = |at: f64| self.spans.iter().any(|s| at > s.start && at <= s.end);
        let level = |at: f64| if inside(at) { self.peak() } else { self.baseline };
        let smooth: f64 = (0..8).map(|back| level(time - back as f64)).sum::<f64>() / 8.0;
        let falls = self.contended_factor < 1.0;
        let bound = self.baseline * if falls { 0.86 } else { 1.35 };
        let mean = smooth * (1.0 + 0.015 * self.noise(time / 3.0));
        Reading {
            value: Some(level(time) * (1.0 + 0.09 * self.noise(time))),
            mean: Some(mean),
            baseline: Some(self.baseline),
            bound: Some(bound),
            state: if inside(time) { "contended" } else { "clear" },
            slowdown_s,
        }
    }
}
