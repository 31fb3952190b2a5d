//! What the schema registry answers.

use configuration::sections::SchemaRegistry;
use reqwest::redirect::Policy;
use std::error::Error;
use std::time::Duration;

/// Most bytes of a registry's list that are read.
const ANSWER_MAX: usize = 16 << 20;

fn client(timeout: Duration) -> reqwest::Result<reqwest::Client> {
    // A redirect might lead a password elsewhere.
    reqwest::Client::builder().timeout(timeout).redirect(Policy::none()).build()
}

/// Number of subjects of the registry; `None` where none is configured.
pub async fn subjects(config: &SchemaRegistry, timeout: Duration) -> Option<Result<usize, String>> {
    match config.url.is_empty() {
        true => None,
        false => Some(ask_subjects(config, timeout).await),
    }
}

async fn ask_subjects(config: &SchemaRegistry, timeout: Duration) -> Result<usize, String> {
    let plain = |error: reqwest::Error| sentence(&error.without_url());
    let url = format!("{}/subjects", config.url.reveal().trim_end_matches('/'));
    let mut request = client(timeout).map_err(plain)?.get(url);
    if !config.user.is_empty() {
        request =
            request.basic_auth(&config.user, config.password.as_ref().map(|password| password.reveal()));
    }
    let mut response = request.send().await.map_err(plain)?;
    if !response.status().is_success() {
        return Err(format!("GET /subjects answers {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(plain)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(format!("GET /subjects answers more than {ANSWER_MAX} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    let subjects: Vec<serde_json::Value> = serde_json::from_slice(&body)
        .map_err(|_| "GET /subjects answers no list: is it a schema registry?")?;
    Ok(subjects.len())
}

/// An error and its causes; a cause that the text before it contains is left out.
fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    for cause in causes.map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
