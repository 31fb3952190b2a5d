//! Messages about jobs from Slurm's side: the plug-in `jobcomp/kafka`, and the prolog and epilog scripts by way of
//! `POST /api/v1/jobs`. They arrive when a job starts or ends, so clarity matters more than speed.

mod clusters;
mod jobcomp;
mod messages;
mod utc;

pub(crate) use clusters::Clusters;

use crate::registry::Refusal;
use schemas::job_post::{PostError, PostedJob};
use schemas::{DropReason, JobEvent, Time};

/// The content of a message of a job topic, by its keys, and the cluster that it names; `arrived` is when Kafka received it.
pub(crate) fn event(message: &[u8], arrived: Time) -> Result<Option<(JobEvent, String)>, Refusal<'static>> {
    // A byte that is no UTF-8 spoils the text in which it stands (Slurm passes job names on as they are), not the job.
    let text = String::from_utf8_lossy(message);
    let object = serde_json::from_str::<serde_json::Value>(&text).ok();
    let Some(object) = object.filter(serde_json::Value::is_object) else {
        return Err(refusal(DropReason::InvalidJson, "message", &text));
    };
    if object.get("jobid").is_some() {
        return Ok(jobcomp::event(&object)?.map(|event| (event, jobcomp::cluster(&object))));
    }
    let posted = serde_json::from_value::<PostedJob>(object).map_err(PostError::from);
    let event = posted.and_then(|posted| Ok((posted.event(arrived)?, posted.cluster)));
    event.map(Some).map_err(|error| match error {
        PostError::JobId(_) | PostError::Label(_) | PostError::Nodes(_) => {
            refusal(DropReason::BadName, "job event", &error.to_string())
        }
        error => refusal(DropReason::BadJob, "job event", &error.to_string()),
    })
}

fn refusal(reason: DropReason, field: &'static str, value: &str) -> Refusal<'static> {
    Refusal { reason, field, value: value.as_bytes().to_vec().into() }
}
