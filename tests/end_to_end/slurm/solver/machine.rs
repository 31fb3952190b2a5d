//! The machine of the solver: Slurm with its nodes, the file server that they share, a native sampler on each, and the programs.

use super::file_server::FileServer;
use crate::serve::clients::compiled;
use crate::slurm::site::Site;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;
use support::paths::{root, tailback};

/// Nodes of the solver and of the other job.
const NODES: [&str; 2] = ["tb01", "tb02"];
/// Iterations of a run; alone it takes some 70 s.
const ITERATIONS: usize = 1_500;
/// Threads of the other job, seconds before its first stretch, in each and between two of them, and their count. A series of the solver
/// has a baseline after sixteen readings.
const FLOOD: &str = "6 25 13 12 3";
/// Time for a job: Slurm and other tests may be slow.
const JOB_TIMEOUT: Duration = Duration::from_secs(300);

/// A run of the solver, by what its program and the other job's printed: outside of Tailback.
pub struct Run {
    /// Its number, and that of the other job.
    pub job: String,
    pub other: Option<String>,
    /// From its first iteration to its last.
    pub wall_s: f64,
    /// Of it in waiting for checkpoints.
    pub writing_s: f64,
    /// Answers that differed from the one before, with their times.
    pub states: Vec<(f64, u32)>,
    /// Stretches in which the other job wrote.
    pub stretches: Vec<(f64, f64)>,
}

impl Run {
    /// The answer that it had at a time.
    pub fn state_at(&self, time_s: f64) -> Option<u32> {
        self.states.iter().rfind(|(since_s, _)| *since_s <= time_s).map(|(_, state)| *state)
    }
}

/// All of it; samplers end before the services.
pub struct Machine {
    samplers: Vec<Child>,
    server: FileServer,
    programs: PathBuf,
    pub site: Site,
}

impl Machine {
    /// Starts everything; records a skip and returns `None` where there is no Slurm.
    pub fn start() -> Option<Machine> {
        let site = Site::start()?;
        let programs = site.path("programs");
        std::fs::create_dir(&programs).unwrap();
        for source in ["solver.c", "flood.c"] {
            compiled(&root().join("tests/end_to_end/slurm/solver").join(source), &programs);
        }
        let server = FileServer::start(&programs, &NODES);
        let mut machine = Machine { samplers: Vec::new(), server, programs, site };
        machine.samplers = NODES.map(|node| machine.sampler(node)).into();
        Some(machine)
    }

    fn sampler(&self, node: &str) -> Child {
        let procfs = self.server.procfs(node);
        let mut command = tailback();
        command.args(["sample", "--producer", node, "--kafka", self.site.broker()]);
        command.arg("--procfs").arg(&procfs);
        // There is nothing else to sample.
        for other in ["--sysfs", "--debugfs", "--run"] {
            command.arg(other).arg(procfs.with_file_name("none"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs the solver as a job, beside the other job or alone, until it has ended.
    pub fn solve(&self, is_contended: bool, reports: bool) -> Run {
        let job = self.submit("solver", NODES[0], &format!("{ITERATIONS} {}", u8::from(reports)));
        let other = is_contended.then(|| self.submit("flood", NODES[1], FLOOD));
        for job in [Some(&job), other.as_ref()].into_iter().flatten() {
            self.site.until(JOB_TIMEOUT, "a job to end", || self.site.state(job) == "COMPLETED");
        }
        let (printed, of_other) = (self.printed(&job), other.as_ref().map(|job| self.printed(job)));
        let one = |key: &str| numbers(&printed, key)[0][0];
        let pairs = |text: &str, key: &str| -> Vec<(f64, f64)> {
            numbers(text, key).iter().map(|found| (found[0], found[1])).collect()
        };
        let states = pairs(&printed, "state").into_iter().map(|(at_s, state)| (at_s, state as u32)).collect();
        let stretches = of_other.map_or_else(Vec::new, |text| pairs(&text, "stretch"));
        Run { job, other, wall_s: one("wall_s"), writing_s: one("writing_s"), states, stretches }
    }

    /// Submits a program on a node; the number of its job.
    fn submit(&self, program: &str, node: &str, arguments: &str) -> String {
        let (path, socket) = (self.programs.join(program), &self.server.socket);
        let output = self.programs.join("%j.out");
        let command = format!("{} {} {node} {arguments}", path.display(), socket.display());
        self.site.sbatch(&["-J", program, "-w", node, "-n1", "-o", output.to_str().unwrap()], &command)
    }

    fn printed(&self, job: &str) -> String {
        std::fs::read_to_string(self.programs.join(format!("{job}.out"))).unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for sampler in &mut self.samplers {
            let _ = sampler.kill();
            let _ = sampler.wait();
        }
    }
}

/// The numbers of each line that begins with `key`.
fn numbers(text: &str, key: &str) -> Vec<Vec<f64>> {
    let found = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let found: Vec<Vec<f64>> =
        found.map(|rest| rest.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    found
}
