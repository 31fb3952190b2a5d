//! Completions and man pages, which packages contain: of every command, none of the hidden ones.

use std::process::{Command, Stdio};

/// Names of the commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = Command::new(crate::TAILBACK).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, after) = help.split_once("Commands:\n").unwrap();
    let listed = after.lines().take_while(|line| line.starts_with("  "));
    let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_string).collect()
}

#[test]
fn every_command_has_a_man_page_and_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(crate::TAILBACK).args(["generate", "--out"]).arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let commands = commands();
    assert!(commands.len() > 15 && commands.iter().any(|name| name == "jobs"), "{commands:?}");
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man").join(name)).unwrap();
    for name in &commands {
        assert!(page(&format!("tailback-{name}.1")).contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(page("tailback-report.1").contains("\\-\\-comment"));
    assert!(page("tailback-alerts-list.1").contains("\\-\\-all"));
    assert!(
        !page("tailback.1").contains("generate") && !folder.path().join("man/tailback-generate.1").exists()
    );
    for file in ["tailback.bash", "_tailback", "tailback.fish"] {
        let text = std::fs::read_to_string(folder.path().join("completions").join(file)).unwrap();
        let lacks: Vec<&String> = commands.iter().filter(|name| !text.contains(name.as_str())).collect();
        assert!(lacks.is_empty(), "{file} lacks {lacks:?}");
    }
}

#[test]
fn bash_completes_a_command_and_its_options() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        Command::new(crate::TAILBACK)
            .args(["generate", "--out"])
            .arg(folder.path())
            .status()
            .unwrap()
            .success()
    );
    let complete = |words: &str, at: usize| {
        let script = format!(
            "source completions/tailback.bash; COMP_WORDS=({words}); COMP_CWORD={at};
             _tailback tailback \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        let output =
            bash.args(["-c", &script]).current_dir(folder.path()).stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    };
    assert_eq!(complete("tailback rep", 1), "replay report");
    assert_eq!(complete("tailback report --co", 2), "--config --compare --comment");
}
