//! Whether a receiver accepts our credentials. Nothing is sent to it that it would act on.

use super::receiver::{Kind, Receiver};
use super::{alertmanager, client, http, remedy};
use reqwest::{Client, Method, StatusCode};
use std::os::unix::fs::PermissionsExt;

/// Requests the status of an Alertmanager, and the options of a webhook; looks for the program of Slurm.
///
/// # Errors
/// Why it would refuse notices, with the remedy.
pub async fn probe(receiver: &Receiver) -> Result<(), String> {
    if receiver.kind == Kind::Slurm {
        return probe_program(receiver);
    }
    let client = client::client(receiver).map_err(|error| error.to_string())?;
    probe_server(&client, receiver).await
}

async fn probe_server(client: &Client, receiver: &Receiver) -> Result<(), String> {
    let is_alertmanager = receiver.kind == Kind::Alertmanager;
    let request = match is_alertmanager {
        true => client.get(alertmanager::url(receiver, "status")),
        false => client.request(Method::OPTIONS, &receiver.url),
    };
    let mut response = http::answer(request, receiver).await.map_err(|refusal| refusal.why)?;
    let (status, said) = (response.status(), http::said(&mut response).await);
    // What a webhook answers to other methods than POST is its own matter.
    let refuses = match is_alertmanager {
        true => !status.is_success(),
        false => {
            let of_account = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
            of_account.contains(&status) || status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
        }
    };
    if !refuses {
        return Ok(());
    }
    let remedy = remedy::of_status(receiver, status, &said);
    let remedy = remedy.map_or(String::new(), |remedy| format!("; {remedy}"));
    Err(format!("it answers {status}: {said}{remedy}"))
}

fn probe_program(receiver: &Receiver) -> Result<(), String> {
    let file = receiver.scontrol.display();
    let metadata = std::fs::metadata(&receiver.scontrol);
    let metadata =
        metadata.map_err(|error| format!("scontrol {file} cannot be run: {error}; correct scontrol"))?;
    let is_program = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    if is_program { Ok(()) } else { Err(format!("scontrol {file} is no program; correct scontrol")) }
}
