//! Names of Unix users by their numbers, from wherever the machine has them: `/etc/passwd`, LDAP, …

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Users that are remembered; at the limit all are forgotten.
const USERS_MAX: usize = 4_096;
/// How long a name is remembered.
const REMEMBERED: Duration = Duration::from_secs(600);
/// Time for a directory service to answer.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);
/// Lookups at once.
static LOOKUPS: Semaphore = Semaphore::const_new(4);

struct Known {
    name: Option<String>,
    since: Instant,
}

static KNOWN: LazyLock<Mutex<HashMap<u32, Known>>> = LazyLock::new(Mutex::default);

/// The name of a user; `None` if no service knows it.
pub async fn name(uid: u32) -> Option<String> {
    if let Some(name) = remembered(uid) {
        return name;
    }
    let _turn = LOOKUPS.acquire().await.ok()?;
    if let Some(name) = remembered(uid) {
        return name;
    }
    let mut getent = Command::new("getent");
    getent.args(["passwd", &uid.to_string()]).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // A service that does not answer is asked again by the next request.
    let output = timeout(LOOKUP_TIMEOUT, getent.output()).await.ok()?.ok()?;
    let line = String::from_utf8_lossy(&output.stdout);
    let name = line.split_once(':').map(|(name, _)| name.to_string());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= USERS_MAX {
        known.clear();
    }
    known.insert(uid, Known { name: name.clone(), since: Instant::now() });
    name
}

fn remembered(uid: u32) -> Option<Option<String>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(&uid).filter(|known| known.since.elapsed() < REMEMBERED).map(|known| known.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn users_have_names_and_unknown_numbers_none() {
        assert_eq!(name(0).await.as_deref(), Some("root"));
        assert_eq!(remembered(0), Some(Some("root".to_string())));
        assert_eq!(name(3_999_999_999).await, None);
    }
}
