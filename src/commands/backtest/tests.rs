//! Sweeps and the configurations to score, by the keys of the program's configuration.

use super::OfProgram;
use detector::model::ModelKind;
use detector::settings::Settings;
use lab::backtest::answer::toml;
use lab::backtest::candidate::{Candidate, Wanted, candidates};
use lab::backtest::sweep::{Assignment, Sweep, points};
use std::path::PathBuf;

fn of(files: &[PathBuf], model: Option<ModelKind>, sweeps: &[&str]) -> Result<Vec<Candidate>, String> {
    let sweeps: Vec<Sweep> = sweeps.iter().map(|text| Sweep::parse(text, &OfProgram).unwrap()).collect();
    candidates(&Wanted { files, model, sweeps: &sweeps }, &OfProgram)
        .map_err(|error| crate::cli::sentence(&error))
}

fn names(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.name.as_str()).collect()
}

#[test]
fn without_anything_both_models_stand_side_by_side() {
    let both = of(&[], None, &[]).unwrap();
    assert_eq!(names(&both), ["default", "published"]);
    assert_eq!(both[1].settings, Settings::of(ModelKind::Published));
    assert_eq!(names(&of(&[], Some(ModelKind::Robust), &[]).unwrap()), ["default"]);
}

#[test]
fn grid_contains_each_combination_and_the_default_once() {
    let grid = of(&[], None, &["lustre_write_rate.window=8,12", "metric.lustre_write_rate.eta=4,5"]).unwrap();
    let want = ["window=8 eta=4", "window=12 eta=4", "window=12 eta=5"];
    assert_eq!(grid.len(), 4);
    assert_eq!(grid[0].name, "default");
    for end in want {
        assert!(
            grid.iter().any(|candidate| candidate.name == format!("lustre_write_rate.{end}")),
            "{grid:?}"
        );
    }
    let last =
        grid.last().unwrap().settings.params[schemas::Metric::from_name("lustre_write_rate").unwrap().at()];
    assert_eq!((last.window, last.eta), (12, 5.0));
}

#[test]
fn swept_keys_override_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("site.toml");
    let text = "model = \"published\"\n[site]\nfile = \"not/here.toml\"\n[metric.lustre_write_rate]\nwindow = 40\neta = 2\n";
    std::fs::write(&file, text).unwrap();
    let found = of(&[file], None, &["lustre_write_rate.eta=3"]).unwrap();
    let params = found[1].settings.params[schemas::Metric::from_name("lustre_write_rate").unwrap().at()];
    assert_eq!((params.window, params.eta, found[1].settings.model), (40, 3.0, ModelKind::Published));
}

#[test]
fn what_is_wrong_is_one_sentence_that_names_the_nearest_key() {
    for (sweep, want) in [
        (
            "lustre_write_rate.windw=8",
            "--sweep lustre_write_rate.windw=8: metric.lustre_write_rate.windw is no key; the nearest is metric.lustre_write_rate.window",
        ),
        (
            "lustre_write_rate.window=99",
            "--sweep lustre_write_rate.window=99: metric.lustre_write_rate.window must lie between 4 and 16",
        ),
        ("model=robst", "--sweep model=robst: model must be one of robust, published"),
        ("kafka.group=a", "--sweep kafka.group=a: kafka.group changes nothing of what rows become"),
    ] {
        let error = of(&[], None, &[sweep]).unwrap_err();
        assert!(error.starts_with(want) && !error.contains(['\n', '(']), "{error}");
    }
}

#[test]
fn a_grid_beyond_the_limit_is_refused_with_its_size() {
    let many: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
    let (eta, change) = (
        format!("ib_wait_ratio.eta={}", many.join(",")),
        format!("aries_stall_ratio.eta={}", many.join(",")),
    );
    let error = of(&[], None, &[&eta, &change]).unwrap_err();
    assert_eq!(error, "the grid has 400 points, more than 255: sweep fewer values at once");
}

#[test]
fn keys_become_lines_that_the_configuration_takes() {
    let texts = ["lustre_write_rate.eta=4", "model=published", "ib_wait_ratio.slowdown=corrected"];
    let sweeps = texts.map(|text| Sweep::parse(text, &OfProgram).unwrap());
    let lines = toml(&points(&sweeps)[0]);
    let want = "model = \"published\"\n[metric.ib_wait_ratio]\nslowdown = \"corrected\"\n[metric.lustre_write_rate]\neta = 4\n";
    assert_eq!(lines, want);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.toml");
    std::fs::write(&file, lines).unwrap();
    assert!(configuration::settings(Some(&file), None, None, None).is_ok());
}

#[test]
fn metric_before_a_key_is_understood() {
    for (given, want) in [
        ("lustre_write_rate.eta", "metric.lustre_write_rate.eta"),
        ("metric.lustre_write_rate.eta", "metric.lustre_write_rate.eta"),
        ("model", "model"),
        ("stream.tick_s", "stream.tick_s"),
    ] {
        assert_eq!(Sweep::parse(&format!("{given}=1, 2,1"), &OfProgram).unwrap().key, want);
    }
}

#[test]
fn a_sweep_without_a_value_or_a_key_is_refused() {
    for text in ["ib_wait_ratio.eta", "ib_wait_ratio.eta=", "ib_wait_ratio.eta=,", "=3"] {
        let error = Sweep::parse(text, &OfProgram).unwrap_err().to_string();
        assert!(error.starts_with(&format!("--sweep {text}: ")), "{error}");
    }
    let twice = ["model=robust", "model=published"].map(String::from);
    assert!(Sweep::parse_all(&twice, &OfProgram).unwrap_err().to_string().contains("model is swept already"));
}

#[test]
fn points_are_every_combination() {
    let sweeps = ["ib_wait_ratio.eta=1,2", "model=3,4"].map(|text| Sweep::parse(text, &OfProgram).unwrap());
    let found: Vec<String> = points(&sweeps)
        .iter()
        .map(|p| p.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        found,
        [
            "ib_wait_ratio.eta=1 model=3",
            "ib_wait_ratio.eta=1 model=4",
            "ib_wait_ratio.eta=2 model=3",
            "ib_wait_ratio.eta=2 model=4"
        ]
    );
    assert_eq!(points(&[]), [Vec::<Assignment>::new()]);
}
