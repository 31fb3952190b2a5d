//! What links carry and hosts write in a second, and which packets are marked.

use super::Lab;
use super::job::TrafficClass;
use super::placement::Placed;
use super::run::Run;

impl Lab {
    /// What links carry and hosts write. A second of work takes as many bytes however long it takes: a job that is slowed sends
    /// less, by as much as it is slowed. Links behind the senders are shown as in bursts, as their stalls are.
    pub(super) fn move_bytes(&mut self, placed: &Placed) {
        let times = self.busy_shares(placed);
        self.moved.fill(0.0);
        self.written.fill(0.0);
        self.waited.fill(0.0);
        self.stored.fill(0.0);
        if let Some(congestion) = &mut self.congestion {
            congestion.find(&self.setup.topology, &self.load, &self.faults.capacities);
        }
        for (part, rate) in self.load.active.iter().zip(&self.load.rates) {
            let flow = &placed.parts[*part as usize];
            let moved = rate * times[flow.job as usize];
            let mut clean = 1.0;
            for link in placed.paths.of(*part) {
                let is_sender = self.setup.topology.from(*link) == flow.from;
                let bytes = if is_sender { moved } else { *rate };
                self.moved[link.at()] += bytes;
                if let Some(congestion) = &mut self.congestion {
                    congestion.cross(*link, bytes, &mut clean);
                }
            }
            if flow.class == TrafficClass::Io {
                self.written[flow.from.at()] += moved;
                self.stored[flow.to.at()] += moved;
                if moved > 0.0 {
                    let (waits, _) = placed.worst(placed.flow_of(*part), &self.load);
                    self.waited[flow.from.at()] += moved * (1.0 + waits);
                }
            }
        }
    }

    /// By job: the share of the time in which it sends as in its bursts.
    fn busy_shares(&self, placed: &Placed) -> Vec<f64> {
        let mut of_jobs = vec![0.0; self.runs.len()];
        let parts = self.load.active.iter().zip(&self.load.rates);
        parts.for_each(|(part, rate)| of_jobs[placed.parts[*part as usize].job as usize] += rate);
        let share = |(at, run): (usize, &Run)| {
            let work = (1.0 - self.rates[at].longer()).max(0.0) * self.alone[at][&run.active].moves;
            if of_jobs[at] > 0.0 { (work / of_jobs[at]).min(1.0) } else { 1.0 }
        };
        self.runs.iter().enumerate().map(share).collect()
    }
}
