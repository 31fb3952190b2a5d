//! The default file against the code, and keys that were mistyped.

use super::assemble::assemble;
use super::kafka::Role;
use super::merge::Layers;
use super::metric::Overrides;
use super::rules::{self, Rule};
use super::secrets::without_password;
use super::{ConfigError, DEFAULT, Origin, Problem, checks, examine, kafka, known, metric, stage};
use detector::fabric::FabricSettings;
use detector::model::ModelKind;
use detector::settings::Settings;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The default file with its commented keys (`#key = …`) set.
fn uncommented() -> String {
    let key = |line: &&str| line.starts_with('#') && line[1..].starts_with(|c: char| c.is_ascii_lowercase());
    DEFAULT.lines().map(|line| if key(&line) { &line[1..] } else { line }.to_string() + "\n").collect()
}

fn of_text(text: &str) -> Layers {
    let mut layers = Layers::default();
    layers.add_text(DEFAULT, &|_| Origin::Default);
    layers.add_text(text, &|line| Origin::File { file: "tailback.toml".into(), line });
    layers
}

fn parse(text: &str) -> Result<Settings, String> {
    let mut layers = of_text(text);
    let settings = metric::settings(&mut layers, Overrides::default());
    match layers.problems.is_empty() {
        true => Ok(settings),
        false => Err(ConfigError(layers.problems).to_string()),
    }
}

#[test]
fn the_default_file_is_valid_and_nothing_in_it_is_unwise() {
    let examined = examine(None, []);
    assert_eq!((examined.problems, examined.warnings), (vec![], vec![]));
    assert!(examined.config.is_some());
}

/// Keys that stand in the default file: the section of one metric is there for all.
fn shown() -> impl Iterator<Item = (String, Rule)> {
    let is_shown = |key: &str| !key.starts_with("metric.") || key.starts_with("metric.lustre_write_rate.");
    rules::all().filter(move |(key, _)| is_shown(key))
}

#[test]
fn every_key_stands_in_the_default_file_in_the_same_order() {
    let mut layers = Layers::default();
    layers.add_text(&uncommented(), &|line| Origin::File { file: "default.toml".into(), line });
    assert_eq!(layers.problems, vec![]);
    let line = |path: &String| match layers.origin(path) {
        Origin::File { line, .. } => line,
        Origin::Default | Origin::Environment(_) => panic!("{path} does not stand in default.toml"),
    };
    let keys: Vec<String> = shown().map(|(key, _)| key).collect();
    let lines: Vec<usize> = keys.iter().map(line).collect();
    assert!(lines.is_sorted(), "{:?}", keys.iter().zip(lines).collect::<Vec<_>>());
    assert_eq!(layers.entries.len(), keys.len());
}

#[test]
fn every_key_of_the_default_file_is_explained_with_its_range() {
    let text = uncommented();
    let mut comment = String::new();
    let mut comments: BTreeMap<usize, String> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        match line.strip_prefix('#') {
            Some(more) => comment = comment + " " + more.trim(),
            None => drop(comments.insert(i + 1, std::mem::take(&mut comment))),
        }
    }
    let mut layers = Layers::default();
    layers.add_text(&text, &|line| Origin::File { file: "default.toml".into(), line });
    for (path, rule) in shown() {
        let Origin::File { line, .. } = layers.origin(&path) else { panic!("{path}") };
        let range = match rule {
            Rule::Whole(least, most, unit) => format!("{least} to {most}{unit}."),
            Rule::Number(least, most, unit) => format!("{least} to {most}{unit}."),
            Rule::Word(words) | Rule::Words(words) => words.join(", ") + ".",
            Rule::Name(most) => format!("1 to {most} letters, digits"),
            _ => String::new(),
        };
        let comment = &comments[&line];
        assert!(comment.len() > 30 && comment.contains(&range), "{path}: {range:?} not in {comment:?}");
    }
}

#[test]
fn shown_model_settings_are_the_robust_defaults() {
    assert_eq!(parse(&uncommented()).unwrap(), Settings::of(ModelKind::Robust));
    assert_eq!(parse("").unwrap(), Settings::of(ModelKind::Robust));
    assert_eq!(parse("model = \"published\"").unwrap(), Settings::of(ModelKind::Published));
}

#[test]
fn a_file_sets_what_it_names_and_nothing_else() {
    let settings = parse("[metric.lustre_write_rate]\nwindow = 12").unwrap();
    assert_eq!(settings.params[schemas::Metric::from_name("lustre_write_rate").unwrap().at()].window, 12);
    assert_eq!(settings.params[0], Settings::of(ModelKind::Robust).params[0]);
}

#[test]
fn no_seconds_are_for_metrics_that_show_none() {
    let slowdown = |metric: &str, word: &str| parse(&format!("[metric.{metric}]\nslowdown = \"{word}\""));
    let wanted = "must be \"none\" for metrics with costs = false, and for no others";
    for (metric, word) in [("lustre_write_rate", "none"), ("roce_cnp_ratio", "service_time")] {
        let error = slowdown(metric, word).unwrap_err();
        assert!(error.contains(wanted), "{metric}: {error}");
    }
    assert!(slowdown("roce_cnp_ratio", "none").is_ok() && slowdown("lustre_write_rate", "corrected").is_ok());
}

#[test]
fn the_rules_of_the_stream_grow_with_the_tick() {
    let stream = parse("[stream]\ntick_s = 10").unwrap().stream;
    assert_eq!((stream.lateness_s, stream.silence_s, stream.gap_s), (30.0, 20.0, 50.0));
}

#[test]
fn option_overrides_the_file_even_if_invalid_there() {
    let mut layers = of_text("[metric.ib_wait_ratio]\nwindow = 40");
    let overrides = Overrides { window: Some(8), ..Overrides::default() };
    let settings = metric::settings(&mut layers, overrides);
    assert_eq!((layers.problems, settings), (vec![], Settings::of(ModelKind::Robust)));
}

#[test]
fn all_mistakes_are_reported() {
    let text = "[metric.ib_wait_ratio]\nfloor = 0.0\neta = 1000\n[stream]\ntick_s = 0\nlateness_s = 99";
    let error = parse(text).unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(
        lines,
        [
            "tailback.toml:5: stream.tick_s must be a number from 0.1 to 60 s, not 0",
            "tailback.toml:6: stream.lateness_s must be a number from 1 to 30 s at a tick of 1 s, not 99",
            "tailback.toml:3: metric.ib_wait_ratio.eta must be a number above 0 and at most 100, not 1000",
            "tailback.toml:2: metric.ib_wait_ratio.floor must be a number above 0 and at most 1e15, not 0",
        ]
    );
}

#[test]
fn librdkafka_properties_reach_their_role() {
    let text = "[kafka]\ngroup = \"site\"\n[kafka.librdkafka]\nsecurity.protocol = \"SSL\"\n\"compression.type\" = \"zstd\"\n\
                [kafka.consumer]\nfetch.wait.max.ms = 100\n[kafka.producer]\ncompression.codec = \"gzip\"";
    let mut layers = of_text(text);
    kafka::check(&mut layers);
    assert_eq!(layers.problems, vec![]);
    let config =
        assemble(&mut layers, Settings::of(ModelKind::Robust), FabricSettings::default(), &mut Vec::new())
            .unwrap();
    let properties = |role| config.kafka.properties(role).into_iter().collect::<BTreeMap<_, _>>();
    let consumer = properties(Role::Consumer(stage::Stage::Detector));
    assert_eq!(consumer["group.id"], "site.detector");
    assert_eq!(consumer["enable.auto.commit"], "false");
    assert_eq!(consumer["fetch.wait.max.ms"], "100");
    let producer = properties(Role::Producer);
    assert_eq!(producer["compression.codec"], "gzip");
    assert_eq!(producer["security.protocol"], "SSL");
    assert!(!producer.contains_key("compression.type") && !producer.contains_key("group.id"));
    for role in [Role::Consumer(stage::Stage::Rollup), Role::Producer, Role::Admin] {
        let mut native = rdkafka::ClientConfig::new();
        native.extend(config.kafka.properties(role));
        assert!(native.create_native_config().is_ok());
    }
}

#[test]
fn no_secret_is_shown() {
    let secret = "hunter2-hunter2-hunter2";
    let variables = [
        ("TAILBACK_DATABASE__URL", format!("postgres://u:{secret}@h/db?sslpassword={secret}")),
        ("TAILBACK_SCHEMA_REGISTRY__URL", format!("https://u:{secret}@h")),
        ("TAILBACK_KAFKA__LIBRDKAFKA__SASL_PASSWORD", secret.to_string()),
    ];
    let url = "postgres://u:***@h/db?sslpassword=***";
    assert_eq!(without_password(&variables[0].1), url);
    let valid = variables
        .clone()
        .map(|(name, value)| (name.to_string(), value.replace("?sslpassword=", "?options=")));
    let examined = examine(
        None,
        valid.map(|(name, value)| (name, value.replace("?options=hunter2-hunter2-hunter2", ""))),
    );
    assert_eq!(examined.problems, vec![]);
    assert!(examined.config.is_some() && !format!("{examined:?}").contains("hunter2"), "{examined:?}");
    // Wrong as a whole: the sentence hides it as well.
    let wrong = examine(None, variables.map(|(name, value)| (name.to_string(), value)));
    assert!(!wrong.problems.is_empty() && !format!("{:?}", wrong.problems).contains("hunter2"), "{wrong:?}");
}

#[test]
fn a_variable_is_taken_as_its_key_wants_it() {
    let set = |name: &str, value: &str| {
        let mut layers = of_text("");
        layers.add_environment([(name.to_string(), value.to_string())]);
        assert_eq!(layers.problems, vec![], "{name}={value}");
        layers
    };
    let brokers = set("TAILBACK_KAFKA__BROKERS", "k1:9092, k2:9092").texts("kafka.brokers");
    assert_eq!(brokers, ["k1:9092", "k2:9092"]);
    assert_eq!(set("TAILBACK_KAFKA__BROKERS", "[\"k1:9092\"]").texts("kafka.brokers"), ["k1:9092"]);
    assert_eq!(set("TAILBACK_RUN__INSTANCE", "12").text("run.instance"), "12");
    assert_eq!(set("TAILBACK_STREAM__TICK_S", "2").number("stream.tick_s"), Some(2.0));
    assert_eq!(set("TAILBACK_MODEL", "published").text("model"), "published");
    set("TAILBACK_PORT", "tcp://10.0.0.1:9464");
}

/// A key with one character lost, doubled, replaced or swapped with the next.
fn mistyped(path: &str, at: usize, how: u8, with: char) -> String {
    let start = path.rfind('.').map_or(0, |dot| dot + 1);
    let mut leaf: Vec<char> = path[start..].chars().collect();
    let i = at % leaf.len();
    match how {
        0 => drop(leaf.remove(i)),
        1 => leaf.insert(i, with),
        2 => leaf[i] = with,
        _ => leaf.swap(i, (i + 1) % path[start..].len()),
    }
    path[..start].to_string() + &leaf.into_iter().collect::<String>()
}

proptest! {
    #[test]
    fn a_mistyped_key_names_the_one_that_was_meant(
        key in 0..rules::all().count(), at in 0usize..64, how in 0u8..3, with in proptest::char::range('a', 'z')
    ) {
        let (path, _) = rules::all().nth(key).unwrap();
        let wrong = mistyped(&path, at, how, with);
        prop_assume!(known::what_is(&wrong) == known::Known::Nothing && !wrong.ends_with('.'));
        let layers = of_text(&format!("# a line\n{wrong} = 1"));
        let problems: Vec<String> = layers.problems.iter().map(ToString::to_string).collect();
        prop_assert_eq!(problems.len(), 1);
        let start = format!("tailback.toml:2: {wrong} is no key; the nearest is ");
        prop_assert!(problems[0].starts_with(&start), "{}", problems[0]);
        prop_assert!(problems[0][start.len()..].split(" or ").any(|named| named == path), "{}", problems[0]);
    }

    #[test]
    fn no_text_makes_it_fail_otherwise_than_by_a_sentence(text in "[a-z_.=\\[\\]\" \n0-9#-]{0,120}") {
        let mut layers = of_text(&text);
        metric::settings(&mut layers, Overrides::default());
        checks::check(&mut layers);
        kafka::check(&mut layers);
        prop_assert!(layers.problems.iter().all(|problem| !problem.text.is_empty()));
    }

    #[test]
    fn a_password_never_survives_in_a_url(password in "[ -~]{8,20}") {
        prop_assume!(!"postgres://u:***@h:5432/db?sslmode=prefer".contains(&password));
        let shown = without_password(&format!("postgres://u:{password}@h:5432/db?sslmode=prefer"));
let hidden = ["postgres://u:***@h:5432/db?sslmode=prefer", "postgres://***"];
        prop_assert!(hidden.contains(&shown.as_str()), "{}", shown);
        let encoded = password.replace('&', "%26");
        let shown = without_password(&format!("postgres://u@h:5432/db?password={encoded}"));
        let hidden = ["postgres://u@h:5432/db?password=***", "postgres://***"];
        prop_assert!(hidden.contains(&shown.as_str()), "{}", shown);
    }
}

#[test]
fn tls_of_the_database_is_checked_and_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("site.toml");
    let examined = |database: &str| {
        std::fs::write(&file, format!("[database]\n{database}\n")).unwrap();
        let examined = examine(Some(&file), []);
        let texts =
            |problems: &[Problem]| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        (texts(&examined.problems), texts(&examined.warnings))
    };
    let at = |host: &str, mode: &str| format!("url = \"postgres://me@{host}/site?sslmode={mode}\"");
    for mode in ["disable", "allow", "prefer", "require", "verify-ca"] {
        let (problems, warnings) = examined(&at("db.example", mode));
        assert_eq!(problems, "");
        assert!(
            warnings.contains("site.toml:2: database.url") && warnings.contains("verify-full"),
            "{warnings}"
        );
        assert_eq!(examined(&at("127.0.0.1", mode)), (String::new(), String::new()));
    }
    assert_eq!(examined(&at("db.example", "verify-full")), (String::new(), String::new()));
    let (problems, _) = examined(&at("db.example", "verify"));
    assert!(problems.contains("sslmode must be one of") && problems.contains("verify-ca"), "{problems}");
    let (problems, _) =
        examined(&format!("{}\ntls_ca_file = \"/nowhere/ca.pem\"", at("db.example", "verify-full")));
    assert!(problems.contains("site.toml:3: database.tls_ca_file: /nowhere/ca.pem"), "{problems}");
    let (problems, _) = examined(&at("db.example", &format!("require&sslrootcert={}", file.display())));
    assert!(problems.contains("database.url") && problems.contains("no certificate"), "{problems}");
    let client = "tls_cert_file = \"/nowhere/me.pem\"";
    let (problems, _) = examined(&format!("{}\n{client}", at("db.example", "verify-full")));
    assert!(problems.contains("database.tls_key_file"), "{problems}");
    let both = format!("{client}\ntls_key_file = \"/nowhere/me.key\"");
    let (problems, _) = examined(&format!("{}\n{both}", at("db.example", "verify-full")));
    assert!(problems.contains("database.tls_cert_file: /nowhere/me.pem"), "{problems}");
    let (problems, _) = examined(&at("db.example", "verify-full&target_session_attrs=prefer-standby"));
    assert!(problems.contains("prefer-standby is not known"), "{problems}");
}

#[test]
fn origins_of_frames_are_schemes_with_hosts_and_ports() {
    let problems = |value: &str| {
        let mut layers = of_text(&format!("[http]\nframe_ancestors = {value}\n"));
        checks::check(&mut layers);
        layers.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for allowed in [
        r#"[]"#,
        r#"["https://ondemand.example.org"]"#,
        r#"["https://*.example.org:8443", "http://10.0.0.5:3000", "http://localhost"]"#,
    ] {
        assert_eq!(problems(allowed), Vec::<String>::new(), "{allowed}");
    }
    for refused in [
        r#"["ondemand.example.org"]"#,
        r#"["https://ondemand.example.org/pun"]"#,
        r#"["*"]"#,
        r#"["https://"]"#,
        r#"["https://a b"]"#,
        r#"["https://a; script-src *"]"#,
        r#"["https://a:0"]"#,
        r#"["'self'"]"#,
        r#"[""]"#,
    ] {
        let found = problems(refused);
        assert!(
            found.len() == 1
                && found[0].contains("http.frame_ancestors")
                && found[0].contains("a list of origins"),
            "{refused}: {found:?}"
        );
    }
}

#[test]
fn a_token_for_silences_needs_another_one_for_reading() {
    let problems = |text: &str| {
        let mut layers = of_text(&format!("[http]\n{text}\n"));
        checks::check(&mut layers);
        layers.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let both = |read: &str, silence: &str| {
        problems(&format!("token_file = {read:?}\nsilence_token_file = {silence:?}"))
    };
    assert_eq!(both("/etc/a", "/etc/b"), Vec::<String>::new());
    for (read, silence, why) in
        [("", "/etc/b", "without http.token_file"), ("/etc/a", "/etc/a", "use another file")]
    {
        let found = both(read, silence);
        assert!(found.len() == 1 && found[0].contains(why), "{found:?}");
    }
}

#[test]
fn address_of_the_page_is_checked() {
    let problems = |value: &str| {
        let mut layers = of_text(&format!("[http]\npublic_url = {value:?}\n"));
        checks::check(&mut layers);
        layers.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for allowed in ["", "https://monitor.example.org", "http://10.0.0.5:9464/tailback/"] {
        assert_eq!(problems(allowed), Vec::<String>::new(), "{allowed}");
    }
    for refused in [
        "monitor.example.org",
        "ftp://monitor",
        "https://",
        "https://a b",
        "https://a/#/now",
        "https://a/?x=1",
        "javascript:alert(1)",
    ] {
        let found = problems(refused);
        assert!(
            found.len() == 1
                && found[0].contains("http.public_url")
                && found[0].contains("must begin with http:// or https://"),
            "{refused}: {found:?}"
        );
    }
}
