//! From sets to rows: ldmsd's decomposition file, static for every schema, so that each row contains its producer, instance
//! and time, and topics do not change their names with the list of metrics.

use crate::sampler_files::tile_columns;
use aggregator::ldms;
use schemas::Site;
use schemas::site::{Half, IbSampler, Role, Scheduler, expected};
use serde_json::{Value, json};

/// Sets of jobs, as `slurm_sampler2` names them.
pub const JOB_SETS: &str = "mt-slurm2";

/// Row schemas of the site, and the pattern of the sets that become such rows.
pub fn matches(site: &Site) -> Vec<(String, &'static str)> {
    let mut found: Vec<(String, &'static str)> = Vec::new();
    let mut add = |schema: &str, pattern: &'static str| {
        if !found.iter().any(|(known, _)| known == schema) {
            found.push((schema.to_string(), pattern));
        }
    };
    let halves = site.router_halves();
    for half in [Half::Left, Half::Right, Half::Whole] {
        if halves.values().any(|part| part.half == half) {
            add(half.schema(), half.schema());
        }
    }
    for class in &site.classes {
        match (class.role, class.ib_sampler, expected::ib_schema(class)) {
            (Role::IbHost, IbSampler::Filesingle, Some(schema)) => add(schema.as_str(), "ib_sysfs_.*"),
            (Role::IbHost, IbSampler::Sysclassib, Some(schema)) => add(schema.as_str(), "sysclassib_.*"),
            (Role::IbHost, IbSampler::Ibmad, _) => add("ibmad", "ibmad"),
            // The plug-in puts a code of its options behind the name.
            (Role::IbSwitches, ..) => add("ibnet", "ibnet_[0-9a-f]+n?"),
            (Role::Slingshot, ..) => {
                add("slingshot", "slingshot");
                add("slingshot_nacks", "slingshot_nacks");
            }
            _ => {}
        }
        if !class.lustre.is_empty() {
            add("lustre_client", "lustre_client");
        }
        for schema in class.serves.iter().flat_map(|target| target.schemas()) {
            add(schema, schema);
        }
        if class.jobs && site.scheduler == Scheduler::Slurm {
            add("slurm_jobs", JOB_SETS);
        }
    }
    found
}

/// The file.
///
/// # Errors
/// If the columns that are compiled in are no JSON, which a test excludes.
pub fn of(site: &Site) -> anyhow::Result<String> {
    let mut rows = serde_json::Map::new();
    let mut matching = Vec::new();
    for (schema, pattern) in matches(site) {
        let mut columns: Vec<Value> = serde_json::from_str(ldms::EVERY_ROW)?;
        columns.extend(own_columns(site, &schema)?);
        let index = json!([{ "name": "time_producer", "cols": ["timestamp", "producer"] }]);
        let row = json!({ "schema": schema, "cols": columns, "indices": index });
        rows.insert(schema.clone(), json!({ "type": "static", "rows": [row] }));
        // A set with ports in its columns is called like its rows.
        let pattern = if pattern.ends_with(".*") { schema.as_str() } else { pattern };
        matching.push(json!({ "schema": format!("^{pattern}$"), "apply": schema }));
    }
    Ok(serde_json::to_string_pretty(&json!({ "type": "flex", "decomposition": rows, "matches": matching }))?
        + "\n")
}

fn own_columns(site: &Site, schema: &str) -> anyhow::Result<Vec<Value>> {
    if let Some(half) =
        [Half::Left, Half::Right, Half::Whole].into_iter().find(|half| half.schema() == schema)
    {
        let router =
            json!({ "src": "aries_rtr_id", "dst": "aries_rtr_id", "type": "char_array", "array_len": 32 });
        return Ok([router].into_iter().chain(tile_columns(half).iter().map(|name| counter(name))).collect());
    }
    let class = site.classes.iter().find(|class| {
        class.role == Role::IbHost && expected::ib_schema(class).is_some_and(|name| name.as_str() == schema)
    });
    let text = match (schema, class) {
        ("lustre_client", _) => ldms::LUSTRE_CLIENT,
        ("lustre_ost", _) => ldms::LUSTRE_OST,
        ("lustre_ost_job_stats", _) => ldms::LUSTRE_OST_JOB_STATS,
        ("lustre_mdt", _) => ldms::LUSTRE_MDT,
        ("lustre_mdt_job_stats", _) => ldms::LUSTRE_MDT_JOB_STATS,
        ("slurm_jobs", _) => ldms::SLURM_JOBS,
        ("ibmad", _) => ldms::IBMAD,
        ("ibnet", _) => ldms::IBNET,
        ("slingshot", _) => ldms::SLINGSHOT,
        ("slingshot_nacks", _) => ldms::SLINGSHOT_NACKS,
        (_, Some(class)) => {
            let prefix = if class.ib_sampler == IbSampler::Sysclassib { "ib." } else { "" };
            let counters = || samplers::ldms::IB_PORT_COUNTERS.lines();
            let names =
                class.ports.iter().flat_map(|port| counters().map(move |c| format!("{prefix}{c}#{port}")));
            return Ok(names.map(|name| counter(&name)).collect());
        }
        (_, None) => anyhow::bail!("the columns of {schema} are unknown"),
    };
    Ok(serde_json::from_str(text)?)
}

fn counter(name: &str) -> Value {
    json!({ "src": name, "dst": name, "type": "u64" })
}
