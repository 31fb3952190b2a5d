//! What the sampler costs its node.

use std::time::Instant;

/// Processor time of the whole process, and the time on the wall.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTime {
    used_s: f64,
    begun: Instant,
}

/// What a run used.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    processor_s: f64,
    wall_s: f64,
}

fn processor_s() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

impl ProcessorTime {
    /// Counts from now on.
    pub fn now() -> ProcessorTime {
        ProcessorTime { used_s: processor_s(), begun: Instant::now() }
    }

    /// What was used since.
    pub fn elapsed(&self) -> Used {
        Used { processor_s: processor_s() - self.used_s, wall_s: self.begun.elapsed().as_secs_f64() }
    }
}

impl std::fmt::Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = 100.0 * self.processor_s / self.wall_s;
        writeln!(
            f,
            "processor time      {:.3} ms in {:.1} s: {share:.4}% of a core",
            1e3 * self.processor_s,
            self.wall_s
        )
    }
}
