//! Post-mortems as text, JSON and HTML.

use super::check;
use super::facts::{contended, quiet, running_with_many_episodes, without_data};

#[test]
fn pages() {
    check("contended.txt", &contended().text(140, false));
    check("narrow.txt", &contended().text(80, false));
    check("colour.txt", &contended().text(140, true));
    check("quiet.txt", &quiet().text(140, false));
    check("without_data.txt", &without_data().text(140, false));
    check("running.txt", &running_with_many_episodes().text(140, false));
}

#[test]
fn the_json_object() {
    check("contended.json", &contended().json().unwrap());
}

#[test]
fn no_data_is_never_called_healthy() {
    let mut facts = without_data();
    for result in [facts.result.clone(), None] {
        facts.result = result;
        let page = facts.text(140, false);
        assert!(page.contains("no data of this job"), "{page}");
        assert!(!page.contains("no loss found"), "{page}");
        let json: serde_json::Value = serde_json::from_str(&facts.json().unwrap()).unwrap();
        assert!(json["result"].is_null());
    }
}

#[test]
fn the_page_of_html_escapes_every_name_and_loads_nothing() {
    let mut facts = contended();
    facts.job.name = "<script>alert(1)</script>".to_string();
    facts.job.user = "\"onload='x'&".to_string();
    facts.episodes[0].resource = "</text><script>x</script>".to_string();
    let page = facts.html(None);
    assert!(!page.contains("<script") && !page.contains("onload='"), "{page}");
    for from_elsewhere in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    check("contended.html", &contended().html(None));
    check("without_data.html", &without_data().html(None));
}
