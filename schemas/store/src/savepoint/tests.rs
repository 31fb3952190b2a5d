//! A savepoint is read back as it was written, and no damaged one is.

use super::*;

fn head() -> Head {
    let input = |stage: &str, topic: Option<&str>| Input {
        stage: stage.to_string(),
        topic: topic.map(str::to_string),
        group: format!("tailback.{stage}"),
    };
    Head {
        tailback_savepoint: FORMAT,
        written_by: "0.1.0".to_string(),
        time_s: 1_800_000_000.0,
        generation: 2,
        inputs: vec![input("aggregator", None), input("detector", Some("tailback.counters"))],
    }
}

fn state(partition: i32, content: &[u8]) -> SavedState {
    let head = StateHead {
        stage: "detector".to_string(),
        partition,
        version: (!content.is_empty()).then_some(1),
        position: 100,
        offset_base: 10,
        topic_id: Some("id".to_string()),
        bytes: 0,
        sha256: String::new(),
    };
    SavedState { head, content: content.to_vec() }
}

/// Two states, whose bytes contain ends of lines, and one that was not stored yet.
fn written() -> Vec<u8> {
    let mut writer = SavepointWriter::new(Vec::new(), &head()).unwrap();
    for state in [state(0, b"some\nbytes\n"), state(1, &[0, 10, 255]), state(2, b"")] {
        writer.state(&state).unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<(Head, Vec<SavedState>), SavepointError> {
    let mut reader = SavepointReader::new(bytes)?;
    let mut states = Vec::new();
    while let Some(state) = reader.next_state()? {
        states.push(state);
    }
    Ok((reader.head, states))
}

#[test]
fn states_are_read_as_they_were_written() {
    let (found, states) = read(&written()).unwrap();
    assert_eq!(found, head());
    let contents: Vec<&[u8]> = states.iter().map(|state| state.content.as_slice()).collect();
    assert_eq!(contents, [b"some\nbytes\n".as_slice(), &[0, 10, 255], b""]);
    assert_eq!(states[2].head.version, None);
    assert_eq!((states[0].head.bytes, states[0].head.sha256.len()), (11, 64));
}

#[test]
fn every_truncated_savepoint_is_refused() {
    let whole = written();
    for length in 0..whole.len() {
        let error = read(&whole[..length]).unwrap_err();
        let expected = matches!(error, SavepointError::Truncated | SavepointError::NotOurs);
        assert!(expected, "{length} of {} bytes: {error}", whole.len());
    }
}

#[test]
fn every_altered_byte_is_noticed() {
    let whole = written();
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        read(&altered).map(|_| ()).expect_err(&format!("byte {at} of {} was altered", whole.len()));
    }
    let longer = [whole, b"more".to_vec()].concat();
    assert!(matches!(read(&longer), Err(SavepointError::Altered(_))));
}

#[test]
fn newer_layouts_and_other_files_are_named() {
    let newer = br#"{"tailback_savepoint":9,"written_by":"4.2.0","states":[]}"#;
    let error = read(newer).unwrap_err().to_string();
    assert!(error.contains("4.2.0"), "{error}");
    for other in [b"".as_slice(), b"SQLite format 3\0", b"{\"job_id\":1}\n", b"\n"] {
        assert!(matches!(read(other), Err(SavepointError::NotOurs)));
    }
}
