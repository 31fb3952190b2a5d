//! A machine of which much changes: two jobs that share a file system all day, and beside them hosts that are renamed every
//! hour, file systems that are replaced every six, a job every half minute, raw topics that are created and deleted.

use schemas::{JobEvent, Name, Time};

/// Seconds between two rows of a source.
pub const TICK_S: usize = 10;
/// Hosts of the two lasting jobs, four each.
const LASTING: usize = 8;
/// Hosts that are renamed.
const RENAMED: usize = 8;
const HOUR_S: usize = 3_600;
/// Seconds between the starts of two runs of a lasting job, and of the pause before the next one.
const RUN_S: usize = 6 * HOUR_S;
const PAUSE_S: usize = 600;
/// Seconds of a period of the second job, and of the writes in it.
const PERIOD_S: usize = 3 * HOUR_S;
const WRITES_S: usize = 1_200;
/// Seconds between the starts of two short jobs, and how long one runs.
const SHORT_EVERY_S: usize = 30;
const SHORT_S: usize = 240;

/// A row of a raw topic.
pub struct Row {
    pub topic: String,
    pub partition: i32,
    pub schema: &'static str,
    pub line: String,
}

/// The counters of all sources.
pub struct World {
    churns: bool,
    written: Vec<u64>,
    ports: Vec<[u64; 2]>,
}

/// The time of a second.
pub fn at(second: usize) -> Time {
    Time::from_seconds(1_700_000_000.0 + second as f64)
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn lasting(host: usize) -> String {
    format!("lasting{host}")
}

fn renamed(host: usize, second: usize) -> String {
    // Not all in the same second.
    format!("renamed{host}-{}", (second + host * 240) / HOUR_S)
}

/// A number that differs from tick to tick and host to host, from 0 to 1.
fn noise(host: usize, second: usize) -> f64 {
    let mixed = (second as u64 * 1_000 + host as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1_u64 << 24) as f64
}

impl World {
    /// With what changes, or only with what lasts.
    pub fn new(churns: bool) -> World {
        World { churns, written: vec![0; LASTING + 2 * RENAMED], ports: vec![[0; 2]; RENAMED] }
    }

    /// Rows of a tick that ends at `second`.
    pub fn rows(&mut self, second: usize) -> Vec<Row> {
        let mut rows: Vec<Row> = (0..LASTING).map(|host| self.lasting_row(host, second)).collect();
        if self.churns {
            for host in 0..RENAMED {
                rows.extend(self.renamed_rows(host, second));
            }
        }
        rows
    }

    /// The second job takes half of what the first one writes, as long as it writes.
    fn lasting_row(&mut self, host: usize, second: usize) -> Row {
        let shares = (PERIOD_S - 2 * WRITES_S..PERIOD_S - WRITES_S).contains(&(second % PERIOD_S));
        let rate = match (host < LASTING / 2, shares) {
            (true, false) => 400e6,
            (true, true) => 200e6,
            (false, true) => 220e6,
            (false, false) => 0.0,
        };
        let bytes = self.write(host, rate, second);
        let line = client_row(&lasting(host), "home", bytes, second);
        Row { topic: "ldms.lustre_client".to_string(), partition: 0, schema: "lustre_client", line }
    }

    fn renamed_rows(&mut self, host: usize, second: usize) -> [Row; 3] {
        let node = renamed(host, second);
        let file_system = format!("scratch{}", second / (6 * HOUR_S));
        // A topic lives for four hours, and gets another partition every hour.
        let topic = format!("ldms.site{}", second / (4 * HOUR_S));
        let partition = (second / TICK_S % (1 + second % (4 * HOUR_S) / HOUR_S)) as i32;
        let row = |schema, line| Row { topic: topic.clone(), partition, schema, line };
        let rates = [150e6 + 100e6 * noise(host, second / 900), 50e6];
        let [first, second_mount] = [LASTING + host, LASTING + RENAMED + host];
        let bytes = [self.write(first, rates[0], second), self.write(second_mount, rates[1], second)];
        let [waits, words] = &mut self.ports[host];
        *words += 2_000_000_000 * TICK_S as u64;
        *waits += ((0.01 + noise(host, second / 1_800)) * 1e9) as u64 * TICK_S as u64;
        let port = format!(
            r#"{{"timestamp":{}.0,"producer":"{node}","component_id":1,"port_xmit_wait#mlx5_0.1":{waits},"port_xmit_data#mlx5_0.1":{words}}}"#,
            at(second).0 / 1_000_000
        );
        [
            row("lustre_client", client_row(&node, &file_system, bytes[0], second)),
            row("lustre_client", client_row(&node, "projects", bytes[1], second)),
            row("ib_sysfs", port),
        ]
    }

    fn write(&mut self, counter: usize, rate: f64, second: usize) -> u64 {
        self.written[counter] += (rate * TICK_S as f64 * (0.97 + 0.06 * noise(counter, second))) as u64;
        self.written[counter]
    }

    /// Events of jobs at `second`.
    pub fn jobs(&self, second: usize) -> Vec<JobEvent> {
        let mut events = Vec::new();
        for (job_id, hosts) in [(0, 0..LASTING / 2), (1, LASTING / 2..LASTING)] {
            let (run, nodes) = (second / RUN_S, hosts.map(lasting).collect::<Vec<_>>());
            let (job_id, start) = ((1 + job_id + 2 * run).to_string(), run * RUN_S);
            if second == start {
                events.push(job(&job_id, nodes, start, None));
            } else if second == start + RUN_S - PAUSE_S {
                events.push(job(&job_id, nodes, start, Some(second)));
            }
        }
        if self.churns && second.is_multiple_of(SHORT_EVERY_S) {
            let number = 1_000 + second / SHORT_EVERY_S;
            let host = number % RENAMED;
            events.push(job(&number.to_string(), vec![renamed(host, second)], second, None));
            if let Some(start) = second.checked_sub(SHORT_S) {
                let number = 1_000 + start / SHORT_EVERY_S;
                let nodes = vec![renamed(number % RENAMED, start)];
                events.push(job(&number.to_string(), nodes, start, Some(second)));
            }
        }
        events
    }
}

fn client_row(node: &str, file_system: &str, bytes: u64, second: usize) -> String {
    format!(
        r#"{{"timestamp":{}.0,"producer":"{node}","instance":"{node}/{file_system}","component_id":1,"fs_name":"{file_system}","llite":"{file_system}-ffff88103d6bd000","read_bytes.sum":0,"write_bytes.sum":{bytes},"open":1,"close":1}}"#,
        at(second).0 / 1_000_000
    )
}

fn job(id: &str, nodes: Vec<String>, start: usize, end: Option<usize>) -> JobEvent {
    JobEvent {
        time: at(end.unwrap_or(start)),
        nodes: nodes.iter().map(|node| name(node)).collect(),
        job_id: name(id),
        label: String::new(),
        user: "cleo".to_string(),
        name: "solver".to_string(),
        start: Some(at(start)),
        end: end.map(at),
        seen: false,
    }
}
