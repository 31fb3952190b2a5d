//! Messages of Slurm's plug-in `jobcomp/kafka`: one when a job ends (Slurm 23.02 and later), and one when it starts (25.05 and
//! later) if `JobCompParams=enable_job_start` says so. Keys and forms are those of `jobcomp_common.c` in Slurm's source.

use super::{refusal, utc};
use crate::registry::Refusal;
use schemas::hostlist::{self, HOSTS_MAX};
use schemas::job_post::shown;
use schemas::{DropReason, JobEvent, Name, Time};
use serde_json::Value;

/// The event of a message; nothing if the job never ran: it was cancelled while it waited.
pub(super) fn event(message: &Value) -> Result<Option<JobEvent>, Refusal<'static>> {
    let job_id = message.get("jobid").and_then(Value::as_u64).filter(|number| *number > 0);
    let job_id = job_id.and_then(|number| Name::parse(&number.to_string()).ok());
    let job_id = job_id.ok_or_else(|| wrong(message, "jobid", DropReason::BadJob))?;
    let nodes = text(message, "nodes");
    if matches!(nodes, "" | "(null)" | "None assigned") {
        return Ok(None);
    }
    let nodes = hostlist::expand(nodes, HOSTS_MAX)
        .map_err(|error| refusal(DropReason::BadName, "nodes", &error.to_string()))?;
    let (start, end) = (moment(message, "@start")?, moment(message, "@end")?);
    let Some(time) = end.or(start) else {
        return Err(wrong(message, "@start", DropReason::BadJob));
    };
    if start.zip(end).is_some_and(|(start, end)| end < start) {
        return Err(wrong(message, "@end", DropReason::BadJob));
    }
    Ok(Some(JobEvent {
        time,
        nodes,
        label: label(message),
        job_id,
        user: shown(text(message, "username")),
        name: shown(text(message, "job_name")),
        start,
        end,
        seen: false,
    }))
}

/// The cluster whose job it is.
pub(super) fn cluster(message: &Value) -> String {
    text(message, "cluster").to_string()
}

/// What `sacct` calls it: `1234_7` in an array, `1234+0` in a het job. Slurm writes a `het_job_id` of 0 where there is
/// no het job.
fn label(message: &Value) -> String {
    let number = |key: &str| message.get(key).and_then(Value::as_u64);
    let both = |of: &str, at: &str| Some((number(of).filter(|id| *id > 0)?, number(at)?));
    if let Some((array, task)) = both("array_job_id", "array_task_id") {
        return format!("{array}_{task}");
    }
    both("het_job_id", "het_job_offset").map_or(String::new(), |(job, offset)| format!("{job}+{offset}"))
}

fn text<'a>(message: &'a Value, key: &str) -> &'a str {
    message.get(key).and_then(Value::as_str).unwrap_or("")
}

fn moment(message: &Value, key: &'static str) -> Result<Option<Time>, Refusal<'static>> {
    match message.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(given)) if matches!(given.as_str(), "" | "Unknown" | "None") => Ok(None),
        Some(given) => {
            let time = given.as_str().and_then(utc::parse);
            time.map(Some).ok_or_else(|| wrong(message, key, DropReason::BadTimestamp))
        }
    }
}

fn wrong(message: &Value, key: &'static str, reason: DropReason) -> Refusal<'static> {
    refusal(reason, key, &message.get(key).map_or(String::new(), Value::to_string))
}
