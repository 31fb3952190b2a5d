//! The script alone, as slurmctld calls it, against a server that is slow, refuses a request, then accepts it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitStatus};
use support::documents;

/// Slurm's variables of an epilog, with what users type.
const VARIABLES: [(&str, &str); 7] = [
    ("SLURM_SCRIPT_CONTEXT", "epilog_slurmctld"),
    ("SLURM_JOB_ID", "1241"),
    ("SLURM_ARRAY_JOB_ID", "1234"),
    ("SLURM_ARRAY_TASK_ID", "7"),
    ("SLURM_JOB_USER", "ann"),
    ("SLURM_JOB_NAME", "a\"b\\c\n$(touch broken)`touch broken`"),
    ("SLURM_JOB_NODELIST", "nid[00001-00002]"),
];

fn script(variables: &[(&str, &str)], conf: &str) -> ExitStatus {
    let script = support::paths::root().join("deploy/slurm/tailback-job");
    let mut command = Command::new(script);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("TAILBACK_JOB_CONF", conf);
    command.envs(variables.iter().copied()).status().unwrap()
}

/// A request's head and body.
fn request(stream: &TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(found) = line.to_lowercase().strip_prefix("content-length:") {
            length = found.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn script_ends_before_the_answer_and_retries() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (conf, token) = (folder.path().join("conf"), folder.path().join("token"));
    std::fs::write(&token, "a-token-for-tests-only\n").unwrap();
    let url = format!("http://{}/api/v1/jobs", listener.local_addr().unwrap());
    let settings = format!("TAILBACK_URL={url}\nTAILBACK_TOKEN_FILE={}\n", token.display());
    std::fs::write(&conf, settings).unwrap();
    // The listener does not accept yet: a script that waited for it would take five minutes, and then fail.
    assert!(script(&VARIABLES, conf.to_str().unwrap()).success());
    let mut bodies = Vec::new();
    for status in ["503 Service Unavailable", "202 Accepted"] {
        let (mut stream, _) = listener.accept().unwrap();
        let (head, body) = request(&stream);
        assert!(head.contains("Authorization: Bearer a-token-for-tests-only\r\n"), "{head}");
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        bodies.push(body);
    }
    assert_eq!(bodies[0], bodies[1]);
    let jobs = schemas::job_post::read_body(&bodies[0], 1).unwrap();
    let event = jobs[0].event(schemas::Time::from_seconds(4e9)).unwrap();
    assert_eq!((event.job_id.as_str(), event.label.as_str()), ("1241", "1234_7"));
    assert_eq!(event.name, "a\"b\\c$(touch broken)`touch broken`");
    assert_eq!((event.start, event.end.is_some(), event.nodes.len()), (None, true, 2));
}

#[test]
fn the_script_succeeds_whatever_is_missing() {
    assert!(script(&VARIABLES, "/nowhere/slurm-job.conf").success());
    assert!(script(&VARIABLES[1..], "/nowhere/slurm-job.conf").success());
    assert!(script(&[], "/nowhere/slurm-job.conf").success());
}

#[test]
fn the_readme_names_the_script_where_both_packages_put_it() {
    let manifest = support::paths::root().join("Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
    let packages = &manifest["package"]["metadata"];
    let assets = |package: &str| packages[package]["assets"].as_array().unwrap().clone();
    let source = "deploy/slurm/tailback-job";
    let deb = assets("deb").into_iter().find(|asset| asset[0].as_str() == Some(source)).unwrap();
    let rpm =
        assets("generate-rpm").into_iter().find(|asset| asset["source"].as_str() == Some(source)).unwrap();
    let place = rpm["dest"].as_str().unwrap();
    assert_eq!(format!("/{}tailback-job", deb[1].as_str().unwrap()), place);
    let settings = documents::block("docs/install.md", "PrologSlurmctld=");
    for event in ["Prolog", "Epilog"] {
        let line = format!("{event}Slurmctld={place}");
        assert!(settings.lines().any(|set| set == line), "{line}: {settings}");
    }
}
