//! Job events from the rows of `slurm_sampler`, `slurm_sampler2` and `jobinfo`.
//!
//! They arrive a few times an hour, so clarity matters more than speed. `slurm_jobs` and `jobinfo` have one job a row;
//! `mt-slurm2` the same under the prefix `job_list.`; `mt-slurm` has slots: arrays `job_id`, `job_start`,
//! `job_end` (flattened to `job_id0, job_id1, …` in CSV) and the strings `user_0`, `job_name_0`, ….

use crate::json;
use crate::names::{Base, plain};
use crate::number::{counter, time, time_of_seconds};
use crate::registry::{Identity, Refusal, Registry};
use schemas::job_post::shown;
use schemas::{DropReason, JobEvent, JobNumber, Name, Time};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// A value as its file has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Json(&'a str),
    Csv(&'a str),
}

/// Columns of a row by the names that LDMS has for them.
pub(crate) type Row<'a> = HashMap<Cow<'a, str>, Value<'a>>;

/// The row of these columns. Of two columns with the same meaning, the one counts whose name is nearer to LDMS' own.
pub(crate) fn row<'a>(columns: impl Iterator<Item = (&'a str, Value<'a>)>) -> Row<'a> {
    let named = columns.map(|(name, value)| {
        let name = plain(name);
        match Base::of(&name) {
            Some((base, far)) => (far, Cow::Borrowed(base.name()), value),
            None if name.bytes().any(|b| b.is_ascii_uppercase()) => {
                (1, Cow::Owned(name.to_ascii_lowercase()), value)
            }
            None => (0, name, value),
        }
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by_key(|(far, _, _)| std::cmp::Reverse(*far));
    named.into_iter().map(|(_, name, value)| (name, value)).collect()
}

impl<'a> Value<'a> {
    fn raw(self) -> &'a str {
        match self {
            Value::Json(raw) | Value::Csv(raw) => raw,
        }
    }

    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Value::Json("null") => Some(Cow::Borrowed("")),
            Value::Json(raw) => json::text(raw),
            Value::Csv(raw) => Some(Cow::Borrowed(raw)),
        }
    }

    fn items(self) -> Option<Vec<Value<'a>>> {
        match self {
            Value::Json(raw) if raw.starts_with('[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
                Some(items.into_iter().map(|item| Value::Json(item.get())).collect())
            }
            _ => None,
        }
    }
}

/// One job as in a row.
struct Said<'a> {
    job_id: Option<Value<'a>>,
    user: Option<Value<'a>>,
    name: Option<Value<'a>>,
    start: Option<Value<'a>>,
    end: Option<Value<'a>>,
}

/// All jobs of a row; nothing if its slots are empty.
pub(crate) fn events<'a>(row: &Row<'a>, registry: &mut Registry) -> Result<Vec<JobEvent>, Refusal<'a>> {
    let at = time_of(row)?;
    let said = match slots(row) {
        Some(slots) => slots,
        None => vec![single(row)],
    };
    let mut node = None;
    let mut events = Vec::new();
    for job in said {
        let Some(number) = job_number(job.job_id)? else {
            continue;
        };
        let node = match &node {
            Some(node) => Name::clone(node),
            None => node.insert(node_of(row, registry)?).clone(),
        };
        events.push(event(at, node, number, &job)?);
    }
    Ok(events)
}

fn event<'a>(time: Time, node: Name, number: JobNumber, said: &Said<'a>) -> Result<JobEvent, Refusal<'a>> {
    let start =
        seconds(said.start, "job_start")?.ok_or(refusal(DropReason::BadJob, "job_start", said.start))?;
    let end = seconds(said.end, "job_end")?;
    if end.is_some_and(|end| end < start) {
        return Err(refusal(DropReason::BadJob, "job_end", said.end));
    }
    Ok(JobEvent {
        time,
        nodes: vec![node],
        job_id: number.job_id,
        label: number.label,
        user: clean(said.user, "user")?,
        name: clean(said.name, "job_name")?,
        start: Some(start),
        end,
        seen: false,
    })
}

fn refusal<'a>(reason: DropReason, field: &'a str, value: Option<Value<'a>>) -> Refusal<'a> {
    Refusal::new(reason, field, value.map_or("", Value::raw).as_bytes())
}

fn time_of<'a>(row: &Row<'a>) -> Result<Time, Refusal<'a>> {
    let value = row.get("timestamp").copied();
    let parsed = value.and_then(|value| time(value.raw().as_bytes()));
    parsed.ok_or(refusal(DropReason::BadTimestamp, "timestamp", value))
}

fn single<'a>(row: &Row<'a>) -> Said<'a> {
    let list = row.contains_key("job_list.job_start");
    let get = |names: [&str; 2], in_list: &str| {
        let name = if list { [in_list; 2] } else { names };
        row.get(name[0]).or(row.get(name[1])).copied()
    };
    Said {
        job_id: get(["job_id"; 2], "job_list.job_id"),
        user: get(["user", "job_user"], "job_list.user"),
        name: get(["job_name"; 2], "job_list.job_name"),
        start: get(["job_start"; 2], "job_list.job_start"),
        end: get(["job_end"; 2], "job_list.job_end"),
    }
}

fn slots<'a>(row: &Row<'a>) -> Option<Vec<Said<'a>>> {
    let ids = array(row, "job_id")?;
    let starts = array(row, "job_start").unwrap_or_default();
    let ends = array(row, "job_end").unwrap_or_default();
    let text = |name: &str, at: usize| row.get(format!("{name}_{at}").as_str()).copied();
    let slot = |(at, id): (usize, Value<'a>)| Said {
        job_id: Some(id),
        user: text("user", at),
        name: text("job_name", at),
        start: starts.get(at).copied(),
        end: ends.get(at).copied(),
    };
    Some(ids.into_iter().enumerate().map(slot).collect())
}

/// The items of a JSON array, or of columns `name0, name1, …`.
fn array<'a>(row: &Row<'a>, name: &str) -> Option<Vec<Value<'a>>> {
    if let Some(items) = row.get(name).and_then(|value| value.items()) {
        return Some(items);
    }
    let items: Vec<Value<'a>> =
        (0..).map_while(|at| row.get(format!("{name}{at}").as_str()).copied()).collect();
    (!items.is_empty()).then_some(items)
}

/// The job's number; `None` for 0, which means no job.
fn job_number(value: Option<Value<'_>>) -> Result<Option<JobNumber>, Refusal<'_>> {
    let given = value.ok_or(refusal(DropReason::BadJob, "job_id", value))?;
    let text = given.text().ok_or(refusal(DropReason::BadValue, "job_id", value))?;
    let text = text.trim();
    if text.is_empty() || text.bytes().all(|b| b == b'0') {
        return Ok(None);
    }
    let number = JobNumber::parse(text).map_err(|_| refusal(DropReason::BadName, "job_id", value))?;
    Ok(Some(number))
}

/// A time in whole seconds; `None` for 0 or nothing.
fn seconds<'a>(value: Option<Value<'a>>, field: &'a str) -> Result<Option<Time>, Refusal<'a>> {
    let Some(given) = value else { return Ok(None) };
    if matches!(given.raw().trim(), "" | "null") {
        return Ok(None);
    }
    match counter(given.raw().trim().as_bytes()) {
        Ok(0) => Ok(None),
        Ok(seconds) => time_of_seconds(seconds).map(Some).ok_or(refusal(DropReason::BadJob, field, value)),
        Err(_) => Err(refusal(DropReason::BadValue, field, value)),
    }
}

fn node_of<'a>(row: &Row<'a>, registry: &mut Registry) -> Result<Name, Refusal<'a>> {
    let producer = row.get("producer");
    let first = row.get("component_id").or(row.get("component_id0")).copied();
    let number = match first.and_then(Value::items) {
        Some(items) => items.first().copied(),
        None => first,
    };
    let producer = producer.filter(|value| !matches!(value.raw(), "null" | "\"\"" | ""));
    let identity = Identity {
        producer: producer.map(|value| match value.text() {
            Some(text) => Cow::Owned(text.into_owned().into_bytes()),
            None => Cow::Borrowed(value.raw().as_bytes()),
        }),
        component_id: number.and_then(|value| counter(value.raw().as_bytes()).ok()),
        ..Identity::default()
    };
    registry.node(&identity).map_err(|refused| match refused.reason {
        DropReason::Unattributable => Refusal { reason: DropReason::BadJob, ..refused },
        _ => refused,
    })
}

/// A text column as it may be shown.
fn clean<'a>(value: Option<Value<'a>>, field: &'a str) -> Result<String, Refusal<'a>> {
    let Some(given) = value else {
        return Ok(String::new());
    };
    let text = given.text().ok_or(refusal(DropReason::BadValue, field, value))?;
    Ok(shown(&text))
}
