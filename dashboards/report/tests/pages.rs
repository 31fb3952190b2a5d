//! Post-mortems as text, JSON and HTML.

use super::check;
use super::facts::{contended, quiet, running_with_many_episodes, stamp, without_data};

#[test]
fn pages() {
    let stamp = stamp();
    check("contended.txt", &contended().text(100, false, &stamp));
    check("narrow.txt", &contended().text(80, false, &stamp));
    check("colour.txt", &contended().text(100, true, &stamp));
    check("quiet.txt", &quiet().text(100, false, &stamp));
    check("without_data.txt", &without_data().text(100, false, &stamp));
    check("running.txt", &running_with_many_episodes().text(100, false, &stamp));
    check("mail.txt", &contended().mail(&stamp));
}

#[test]
fn no_line_is_longer_than_its_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let most = match path.file_stem().unwrap().to_str().unwrap() {
            "mail" => 78,
            "narrow" => 80,
            _ => 100,
        };
        for line in without_escapes(&std::fs::read_to_string(&path).unwrap()).lines() {
            assert!(line.chars().count() <= most, "{}: {line}", path.display());
        }
        files += 1;
    }
    assert!(files >= 9, "{files}");
}

#[test]
fn a_page_of_any_width_holds_it_with_long_names() {
    let mut facts = contended();
    facts.job.name = "a_name_".repeat(40);
    facts.job.nodes =
        (1..400).map(|n| super::facts::name(&format!("rack{}-nid{n:05}", n * 7 % 13))).collect();
    facts.episodes[0].resource = format!("lustre_write_rate/{}/scratch", "nid".repeat(30));
    facts.regions[0].name = "uplinks of a leaf ".repeat(12);
    for width in [60, 78, 100] {
        for text in [facts.text(width, false, &stamp()), without_escapes(&facts.text(width, true, &stamp()))]
        {
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width, "{width}: {longest}\n{text}");
        }
    }
}

#[test]
fn a_region_of_own_load_that_the_job_waits_in_stands_once() {
    let mut facts = contended();
    facts.regions[1].id = facts.regions[0].id;
    let text = facts.text(160, false, &stamp());
    assert_eq!(text.matches("uplinks of <leaf-03>").count(), 1, "{text}");
    assert!(text.contains("; makes 60% of its load"), "{text}");
    assert_eq!(facts.html(None, &stamp()).matches("uplinks of &lt;leaf-03&gt;").count(), 1);
}

#[test]
fn causes_of_a_loss_that_may_be_0_are_suspected() {
    let mut facts = contended();
    facts.result.as_mut().unwrap().slowdown_lo_s = 0.0;
    facts.regions[0].lost_lo_s = Some(0.0);
    for page in [facts.text(100, false, &stamp()), facts.html(None, &stamp())] {
        assert_eq!(page.matches("suspected: job 4698").count(), 2, "{page}");
        assert!(page.contains("suspected: I/O on"), "{page}");
    }
    assert!(!contended().text(100, false, &stamp()).contains("suspected"));
}

fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_string();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn headline_is_one_sentence_about_each_sort_of_job() {
    let running = running_with_many_episodes();
    let mut unjudged = quiet();
    unjudged.result.as_mut().unwrap().judged = 0.0;
    unjudged.result.as_mut().unwrap().slowdown_hi_s = 473.0;
    let mut partly = quiet();
    partly.result.as_mut().unwrap().slowdown_hi_s = 40.0;
    let mut doubtful = contended();
    doubtful.result.as_mut().unwrap().slowdown_lo_s = 0.0;
    for (facts, want) in [
        (
            contended(),
            "Job 4711 lost 213 s [207, 219] of its 473 s (45%) to contention, 62% of it by job 4698.",
        ),
        (
            running,
            "Job 4711 lost 213 s [207, 219] of the first 372 s (57%) to contention, 62% of it by job 4698.",
        ),
        (
            doubtful,
            "Job 4711 may have lost up to 219 s of its 473 s to contention (suspected: 0 is possible), 62% of it by job 4698.",
        ),
        (quiet(), "Job 4711 lost nothing to contention in its 473 s."),
        (partly, "Job 4711: no loss was measured in its 473 s; what was not judged may hide at most 40 s."),
        (unjudged, "Job 4711 was not judged: of its 473 s it may have lost anything, at most 473 s."),
        (without_data(), "Job 4711: no data was received; whether it met contention is unknown."),
    ] {
        assert_eq!(crate::headline::headline(&facts), want);
        assert!(facts.comment().len() <= 50, "{}", facts.comment());
        let text = facts.text(100, false, &stamp());
        let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(first.join(" "), want);
    }
}

#[test]
fn mail_has_one_line_of_subject_before_the_page() {
    let mail = contended().mail(&stamp());
    let (head, page) = mail.split_once("\n\n").unwrap();
    assert!(head.starts_with("Subject: Job 4711: lost 213 s [207, 219] to job 4698\n"), "{head}");
    assert!(head.is_ascii() && !mail.contains('\x1b'));
    assert_eq!(page, contended().text(78, false, &stamp()));
}

#[test]
fn the_json_object() {
    check("contended.json", &contended().json(&stamp()).unwrap());
}

#[test]
fn no_data_is_never_called_healthy() {
    let mut facts = without_data();
    for result in [facts.result.clone(), None] {
        facts.result = result;
        let page = facts.text(100, false, &stamp());
        assert!(page.contains("no data of this job"), "{page}");
        assert!(!page.contains("no loss found") && !page.contains("lost nothing"), "{page}");
        let json: serde_json::Value = serde_json::from_str(&facts.json(&stamp()).unwrap()).unwrap();
        assert!(json["result"].is_null());
    }
}

#[test]
fn the_page_of_html_escapes_every_name_and_loads_nothing() {
    let mut facts = contended();
    facts.job.name = "<script>alert(1)</script>".to_string();
    facts.job.user = "\"onload='x'&".to_string();
    facts.episodes[0].resource = "</text><script>x</script>".to_string();
    let without_page = crate::Stamp { page: None, ..stamp() };
    let page = facts.html(None, &without_page);
    assert!(!page.contains("<script") && !page.contains("onload='"), "{page}");
    for from_elsewhere in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    check("contended.html", &contended().html(None, &stamp()));
    check("without_data.html", &without_data().html(None, &without_page));
}
