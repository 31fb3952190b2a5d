//! A real Slurm shows the comment of a job and loses it after the advice's expiry.

use super::outbox::{Outbox, deliver, notice, receiver, until};
use super::receiver::now_s;
use schemas::{Notice, NoticeKind};
use std::process::Command;
use support::service::Service;

fn slurm(conf: &str, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).env("SLURM_CONF", conf).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn field(text: &str, name: &str) -> String {
    let found = text.lines().find_map(|line| line.trim().strip_prefix(name));
    found.unwrap_or_default().to_string()
}

fn slurm_receiver(conf: &str, more: &str) -> alerts::receivers::Receiver {
    let scontrol = String::from_utf8(Command::new("which").arg("scontrol").output().unwrap().stdout).unwrap();
    receiver(&format!(
        "kind = \"slurm\"\nscontrol = {:?}\nslurm_conf = {conf:?}\nallow = [\"job_comment\", \"node_comment\"]\n{more}",
        scontrol.trim()
    ))
}

fn about(job: &str, incident: &str, sequence: u64, kind: NoticeKind, valid_s: f64) -> Notice {
    let mut notice: Notice = notice(incident, sequence, kind);
    notice.advice.jobs[0].job_id = job.to_string();
    notice.advice.nodes = vec!["tb01".to_string(), "tb02".to_string()];
    notice.advice.valid_until_s = now_s() + valid_s;
    notice
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_shows_the_comment_and_loses_it_after_the_expiry() {
    let Some(service) = Service::start("slurm") else { return };
    let conf = &service.address;
    let job = slurm(conf, "sbatch", &["--parsable", "--output", "/dev/null", "--wrap", "sleep 120"])
        .trim()
        .to_string();
    slurm(conf, "scontrol", &["update", "NodeName=tb02", "Comment=of an operator"]);
    let comment = || field(&slurm(conf, "scontrol", &["show", "job", &job]), "AdminComment=");
    let of_node = |node: &str| field(&slurm(conf, "scontrol", &["show", "node", node]), "Comment=");
    let file = |more: &str| slurm_receiver(conf, more);
    let of_job = |incident: &str, sequence, kind, valid_s| about(&job, incident, sequence, kind, valid_s);
    let mut outbox = Outbox::new();

    let dry = deliver(&outbox.path, file(""));
    outbox.send(vec![of_job("dry", 1, NoticeKind::Firing, 300.0)]);
    let mut notices = store::outbox::OutboxStore::file(&outbox.path).unwrap();
    let waits = |notices: &mut store::outbox::OutboxStore| {
        !futures::executor::block_on(notices.undelivered()).unwrap().is_empty()
    };
    until("the dry run is over", || !waits(&mut notices)).await;
    assert_eq!(comment(), "", "a dry run changes nothing");
    dry.abort();

    let _way = deliver(&outbox.path, file("dry_run = false"));
    outbox.send(vec![of_job("i", 1, NoticeKind::Firing, 8.0)]);
    until("the job has its comment", || comment().contains("lost 12 s [11, 14] to contention;")).await;
    until("the nodes have their comments", || {
        of_node("tb01").contains("reroute_lids") && of_node("tb02").starts_with("of an operator tailback: ")
    })
    .await;
    until("the advice is over", || comment().is_empty()).await;
    until("the nodes are as they were", || of_node("tb01").is_empty() && of_node("tb02") == "of an operator")
        .await;

    outbox.send(vec![of_job("k", 1, NoticeKind::Firing, 300.0)]);
    until("the job has a comment again", || comment().contains("lost 12 s")).await;
    outbox.send(vec![of_job("k", 2, NoticeKind::Resolved, 300.0)]);
    until("the end of the incident removes the comment", || comment().is_empty()).await;
    slurm(conf, "scancel", &[&job]);
}
