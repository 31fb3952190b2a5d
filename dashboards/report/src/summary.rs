//! Nodes and the loss, a line each, which text and HTML have in common.

use crate::numbers::percent;
use crate::{PostMortem, node_list};
use schemas::JobResult;

/// Characters of a node list; JSON has all of it.
const NODES_MAX: usize = 400;

/// How many nodes, and which.
pub(crate) fn nodes(facts: &PostMortem) -> String {
    let names = &facts.job.nodes;
    if names.is_empty() {
        return "not known".to_string();
    }
    let mut list = node_list::compress(names.iter().map(|n| n.as_str()));
    if list.len() > NODES_MAX {
        // Names are ASCII; the cut falls between two of them.
        let cut = list[..NODES_MAX].rfind(',').unwrap_or(NODES_MAX);
        list.truncate(cut);
        list += ",…";
    }
    format!("{}: {list}", names.len())
}

/// What was lost, in one line.
pub(crate) fn lost(facts: &PostMortem, r: &JobResult) -> String {
    let complete = format!("completeness {}", percent(r.completeness));
    let run_s = facts.run_s();
    let not_judged = r.not_judged(run_s).map_or(String::new(), |words| format!(", {words}"));
    if r.slowdown_s <= 0.0 {
        if r.judged <= 0.0 {
            return format!("not known, at most {:.1} s{not_judged}, {complete}", r.slowdown_hi_s);
        }
        let most = if r.slowdown_hi_s >= 0.05 {
            format!(", at most {:.1} s", r.slowdown_hi_s)
        } else {
            String::new()
        };
        return format!("no loss found in what was judged{most}{not_judged}, {complete}");
    }
    let share = if run_s > 0.0 { r.slowdown_s / run_s } else { 0.0 };
    let of_run = format!("{} of its {run_s:.0} s run", percent(share));
    format!("{} = {of_run}, contended {:.0} s{not_judged}, {complete}", r.lost_s(), r.contended_s)
}
