use super::*;

fn parse(content: &str) -> Result<Receiver, String> {
    let hosts = ["am.site".to_string(), "hooks.site:8443".to_string()];
    Receiver::parse("r.toml", content, &hosts, &|_, _| Err("is not there".to_string()))
        .map_err(|error| error.to_string())
}

fn webhook(url: &str) -> Result<Receiver, String> {
    parse(&format!("name = \"ops\"\nkind = \"webhook\"\nurl = {url:?}"))
}

#[test]
fn urls_go_where_the_configuration_says_and_nowhere_else() {
    for allowed in
        ["http://127.0.0.1:9093", "https://am.site/x", "https://hooks.site:8443/", "http://[::1]:1/"]
    {
        assert!(webhook(allowed).is_ok(), "{allowed}: {:?}", webhook(allowed));
    }
    for (refused, part) in [
        ("https://evil.site/", "[alerts] hosts does not"),
        ("https://hooks.site/", "[alerts] hosts does not"),
        ("http://am.site/", "plain_http = true"),
        ("https://u:secret@am.site/", "use user and password_file, or token_file"),
        ("file:///etc/passwd", "must begin with https"),
        ("nonsense", "url must be https"),
    ] {
        let error = webhook(refused).unwrap_err();
        assert!(error.starts_with("r.toml: ") && error.contains(part), "{refused}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn slurm_receiver_changes_nothing_by_default() {
    let receiver = parse("name = \"slurm\"\nkind = \"slurm\"").unwrap();
    assert!(receiver.dry_run && receiver.allow.is_empty());
    let error = parse("name = \"slurm\"\nkind = \"slurm\"\nallow = [\"drain\"]").unwrap_err();
    assert!(error.contains("line 3: allow: unknown variant"), "{error}");
}

#[test]
fn errors_name_file_and_key() {
    let error =
        parse("name = \"ops\"\nkind = \"webhook\"\nurl = \"http://[::1]/\"\ntimeout_s = 0").unwrap_err();
    assert_eq!(error, "r.toml: timeout_s must be 0.1 to 300, not 0");
    let error = parse("name = \"ops\"\nkind = \"webhook\"\ntimeouts = 1").unwrap_err();
    assert!(error.contains("timeouts"), "{error}");
}

/// Reads a receiver at an allowed address; each secret file holds "secret".
fn with(more: &str) -> Result<Receiver, String> {
    let hosts = ["am.site".to_string(), "proxy.site:3128".to_string()];
    let text = format!("name = \"ops\"\nkind = \"alertmanager\"\nurl = \"https://am.site/\"\n{more}");
    Receiver::parse("r.toml", &text, &hosts, &|_, _| Ok(Redacted::new("secret".to_string())))
        .map_err(|error| error.to_string())
}

#[test]
fn proxy_is_one_of_the_configured_hosts() {
    for allowed in ["http://proxy.site:3128", "http://127.0.0.1:3128", "https://am.site"] {
        assert!(with(&format!("proxy = {allowed:?}")).is_ok(), "{allowed}");
    }
    for (refused, part) in [
        ("http://proxy.site:3129", "proxy names proxy.site, which [alerts] hosts does not"),
        ("http://u:secret@127.0.0.1:1", "proxy must not hold a password"),
        ("socks5://127.0.0.1:1", "proxy must begin with http:// or https://"),
        ("proxy.site:3128", "proxy must be"),
    ] {
        let error = with(&format!("proxy = {refused:?}")).unwrap_err();
        assert!(error.contains(part) && !error.contains("secret"), "{refused}: {error}");
    }
}

#[test]
fn credentials_are_complete_and_of_one_kind() {
    let receiver = with("user = \"tailback\"\npassword_file = \"p\"").unwrap();
    assert_eq!(receiver.password.unwrap().reveal(), "secret");
    for (more, part) in [
        ("user = \"tailback\"", "user needs password_file"),
        ("password_file = \"p\"", "password_file needs user"),
        ("user = \"a:b\"\npassword_file = \"p\"", "user must not contain `:`"),
        ("user = \"a\"\npassword_file = \"p\"\ntoken_file = \"t\"", "keep one"),
        ("cert_file = \"c\"", "cert_file needs key_file"),
        ("key_file = \"k\"", "key_file needs cert_file"),
        ("cert_file = \"/no/c\"\nkey_file = \"/no/k\"", "cert_file /no/c cannot be read"),
    ] {
        let error = with(more).unwrap_err();
        assert!(error.starts_with("r.toml: ") && error.contains(part), "{more}: {error}");
    }
}

#[test]
fn key_with_a_passphrase_is_named_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("c"), "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").unwrap();
    std::fs::write(path("k"), "-----BEGIN ENCRYPTED PRIVATE KEY-----\n").unwrap();
    let error = with(&format!("cert_file = {:?}\nkey_file = {:?}", path("c"), path("k"))).unwrap_err();
    assert!(error.contains("openssl pkcs8 -topk8 -nocrypt"), "{error}");
}

#[test]
fn heartbeat_receiver_gets_no_notices() {
    let text = "name = \"dead\"\nkind = \"heartbeat\"\nurl = \"http://127.0.0.1:1/\"";
    assert!(parse(text).unwrap().route().is_none());
    let error = parse(&format!("{text}\nrules = [\"job_slowed\"]")).unwrap_err();
    assert!(error.contains("rules is not for kind = \"heartbeat\""), "{error}");
}
