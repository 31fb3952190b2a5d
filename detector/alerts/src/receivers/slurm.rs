//! Slurm: `AdminComment` of jobs that lose time, `Comment` of nodes to avoid, through `scontrol`. Nothing is changed unless
//! the receiver's file allows it. Ours stands behind the words of others in a comment, and is taken back when the incident or its
//! advice is over; theirs stay as they are then.

use super::http::Refusal;
use super::receiver::{Mark as Allowed, Receiver};
use schemas::{Name, Notice, NoticeKind, loss_words};
use std::time::Duration;
use store::outbox::{Mark, OutboxError, OutboxStore};
use tokio::process::Command;

/// Jobs and nodes that one notice marks.
const MARKED_MAX: usize = 64;
/// How ours begins and ends among the words of others.
const OURS: &str = "tailback: ";
const END: char = ';';
/// How Jobstats' summary of a job begins, which is packed: its readers take the whole comment.
const JOBSTATS: &str = "JS1:";

/// Acts on a notice.
///
/// # Errors
/// [`Refusal`] when Slurm or the outbox does not answer.
pub async fn act(
    outbox: &mut OutboxStore,
    receiver: &Receiver,
    notice: &Notice,
    now_s: f64,
) -> Result<(), Refusal> {
    if notice.kind == NoticeKind::Resolved {
        return take_back(outbox, receiver, now_s, &notice.incident).await;
    }
    if notice.advice.valid_until_s <= now_s {
        tracing::info!(
            receiver = receiver.name,
            incident = notice.incident,
            "advice expired; nothing is marked"
        );
        return Ok(());
    }
    for (target, name, value) in marks(receiver, notice) {
        if receiver.dry_run {
            let arguments = update(target, &name, &value).join(" ");
            tracing::info!(receiver = receiver.name, "dry run: scontrol {arguments}");
            continue;
        }
        let Some(found) = comment(receiver, target, &name).await? else { continue };
        let Some(merged) = with_ours(&found, &value) else {
            tracing::info!(
                receiver = receiver.name,
                target,
                name,
                "comment is Jobstats' summary; left as it is"
            );
            continue;
        };
        let arguments = update(target, &name, &merged);
        let (incident, until_s) = (notice.incident.clone(), notice.advice.valid_until_s);
        let mark = Mark { target: target.to_string(), name, incident, value, until_s };
        // First it is remembered, so that whatever happens it is taken back.
        outbox.put_mark(&receiver.name, &mark).await.map_err(|error| unasked(&error))?;
        scontrol(receiver, &arguments).await?;
    }
    Ok(())
}

/// Takes back what is over at `now_s`, and all marks of an incident ("" for none).
///
/// # Errors
/// [`Refusal`] as in [`act`].
pub async fn take_back(
    outbox: &mut OutboxStore,
    receiver: &Receiver,
    now_s: f64,
    incident: &str,
) -> Result<(), Refusal> {
    for mark in outbox.marks(&receiver.name, now_s, incident).await.map_err(|error| unasked(&error))? {
        let found = comment(receiver, &mark.target, &mark.name).await?;
        if let Some(found) = found.filter(|found| found.contains(&mark.value)) {
            scontrol(receiver, &update(&mark.target, &mark.name, &without_ours(&found))).await?;
        }
        outbox.drop_mark(&receiver.name, &mark).await.map_err(|error| unasked(&error))?;
    }
    Ok(())
}

fn unasked(error: &OutboxError) -> Refusal {
    Refusal::passing(error.to_string())
}

/// What is written where: target, name, text.
fn marks(receiver: &Receiver, notice: &Notice) -> Vec<(&'static str, String, String)> {
    let advice = &notice.advice;
    let left = format!("until {:.0}, incident {}{END}", advice.valid_until_s, notice.incident);
    let mut marks = Vec::new();
    if receiver.allow.contains(&Allowed::JobComment) {
        let jobs = advice.jobs.iter().filter_map(|job| Some((job_number(&job.job_id)?, job.lost())));
        marks.extend(jobs.take(MARKED_MAX).map(|(number, lost)| {
            // Without advice and incident: `squeue` and `sacct` show few characters, and each job has one comment.
            ("job", number, format!("{OURS}{}{END}", loss_words::lost(lost, None)))
        }));
    }
    if receiver.allow.contains(&Allowed::NodeComment) {
        let nodes = advice.nodes.iter().filter(|node| is_node(node));
        marks.extend(nodes.take(MARKED_MAX).map(|node| {
            ("node", node.clone(), format!("{OURS}contended, advice {} {left}", advice.action.name()))
        }));
    }
    marks
}

/// The comment without ours.
fn without_ours(comment: &str) -> String {
    let found = comment.find(OURS).and_then(|begin| Some((begin, begin + comment[begin..].find(END)? + 1)));
    let Some((begin, end)) = found else { return comment.to_string() };
    format!("{} {}", comment[..begin].trim_end(), comment[end..].trim_start()).trim().to_string()
}

/// The comment with `ours` behind the words of others; `None` where readers of theirs would stumble over it.
fn with_ours(comment: &str, ours: &str) -> Option<String> {
    let others = without_ours(comment);
    (!others.starts_with(JOBSTATS)).then(|| format!("{others} {ours}").trim().to_string())
}

/// Slurm's number of a job; later runs have `.r1` behind it.
fn job_number(job_id: &str) -> Option<String> {
    let number = job_id.split_once(".r").map_or(job_id, |(number, _)| number);
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.to_string())
}

fn is_node(node: &str) -> bool {
    Name::parse(node).is_ok() && node.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn update(target: &str, name: &str, text: &str) -> Vec<String> {
    let (which, field) = if target == "job" { ("JobId", "AdminComment") } else { ("NodeName", "Comment") };
    vec!["update".to_string(), format!("{which}={name}"), format!("{field}={text}")]
}

/// The current comment; `None` if there is no such job or node any more.
async fn comment(receiver: &Receiver, target: &str, name: &str) -> Result<Option<String>, Refusal> {
    let field = if target == "job" { "AdminComment=" } else { "Comment=" };
    let shown = scontrol(receiver, &["show".to_string(), target.to_string(), name.to_string()]).await?;
    let comment = |text: String| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(field).map(str::to_string));
        line.unwrap_or_default()
    };
    Ok(shown.map(comment))
}

/// Runs `scontrol`; what it prints, or `None` if it knows no such job or node.
async fn scontrol(receiver: &Receiver, arguments: &[String]) -> Result<Option<String>, Refusal> {
    let mut command = Command::new(&receiver.scontrol);
    command.args(arguments).kill_on_drop(true).stdin(std::process::Stdio::null());
    if !receiver.slurm_conf.as_os_str().is_empty() {
        command.env("SLURM_CONF", &receiver.slurm_conf);
    }
    let limit = Duration::from_secs_f64(receiver.timeout_s);
    let output = tokio::time::timeout(limit, command.output())
        .await
        .map_err(|_| Refusal::passing("scontrol does not answer in time"))?
        .map_err(|error| {
            Refusal::passing(format!("{} cannot be run: {error}", receiver.scontrol.display()))
        })?;
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let all = format!("{said}{printed}");
    let unknown =
        ["Invalid job id", "Invalid node name", "not found", "already finished", "already completed"];
    if unknown.iter().any(|words| all.contains(words)) {
        return Ok(None);
    }
    if output.status.success() {
        return Ok(Some(printed.into_owned()));
    }
    Err(Refusal::passing(format!("scontrol failed: {}", all.trim().replace('\n', " "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_stay_in_a_comment() {
        let (first, second) =
            ("tailback: lost 5 s [4.0, 6.0], incident a;", "tailback: lost 9 s, incident b;");
        for (others, merged) in
            [("", first.to_string()), ("of an operator", format!("of an operator {first}"))]
        {
            assert_eq!(with_ours(others, first).as_ref(), Some(&merged));
            assert_eq!(with_ours(&merged, second), Some(merged.replace(first, second)), "ours is replaced");
            assert_eq!(without_ours(&merged), others);
        }
        assert_eq!(without_ours(&format!("before {first} added later")), "before added later");
        assert_eq!(without_ours("see tailback: its page"), "see tailback: its page", "not ours");
        assert_eq!(with_ours("JS1:H4sIAAAAAAAA", first), None, "a packed summary of Jobstats");
    }

    #[test]
    fn only_numbers_of_jobs_and_names_of_nodes_reach_scontrol() {
        assert_eq!(job_number("1234").as_deref(), Some("1234"));
        assert_eq!(job_number("1234.r2").as_deref(), Some("1234"));
        for refused in ["", "1 2", "12;id", "-1", "a", "1,2"] {
            assert_eq!(job_number(refused), None, "{refused}");
        }
        assert!(is_node("nid00012") && is_node("c0-0c1s8n1"));
        assert!(!is_node("nid[1-9]") && !is_node("a,b") && !is_node("ALL=1") && !is_node(""));
    }
}
