//! Calibration from finished runs of one configuration, on a real server.

use store::postgres::learn;
use support::database::{Database, on_each_server, query};

/// Runs of `app` on two nodes: 1,000 s and six tenths of the contention; a shift of `clear_s` for another placement.
fn runs(app: &str, first: u32, clear_s: f64, lost: &[f64], node: &str) -> String {
    let mut sql = String::new();
    for (at, lost_s) in lost.iter().enumerate() {
        let job = first + at as u32;
        let wobble_s = if at % 2 == 0 { 2.0 } else { -2.0 };
        let run_s = clear_s + 0.6 * lost_s + wobble_s;
        sql += &format!(
            "INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app)
             VALUES ('{job}', 'alice', 'x', to_timestamp(1700000000), to_timestamp({}), '{app}');
             INSERT INTO job_nodes VALUES ('{job}', '{node}1'), ('{job}', '{node}2');
             INSERT INTO job_results VALUES ('{job}', {lost_s}, {lost_s}, {}, {}, 1, 1);
             INSERT INTO job_causes VALUES ('{job}', 0, 'other_job', 'capacity', '9', 0.7),
                                           ('{job}', 1, 'self', 'endpoint', '{job}', 0.2);",
            1_700_000_000.0 + run_s,
            lost_s * 0.9,
            lost_s * 1.1,
        );
    }
    sql
}

async fn fill(database: &Database) {
    database
        .execute(
            "INSERT INTO node_switches VALUES ('near1', 's1', 'g1'), ('near2', 's1', 'g1'),
                                              ('far1', 's1', 'g1'), ('far2', 's2', 'g2')",
        )
        .await;
    database.execute(&runs("cfd", 100, 1_000.0, &[0.0, 50.0, 100.0, 150.0, 200.0, 250.0], "near")).await;
    database.execute(&runs("cfd", 200, 1_200.0, &[0.0, 100.0, 200.0], "far")).await;
    database.execute(&runs("rare", 300, 1_000.0, &[100.0], "near")).await;
}

#[test]
fn beta_is_learnt_from_runs_and_versioned() {
    on_each_server(|database: Database| async move {
        let fitted = runs("cfd", 100, 1_000.0, &[0.0, 50.0, 100.0, 150.0, 200.0, 250.0], "near");
        database.execute(&fitted).await;
        assert_eq!(learn(&database.settings()).await.unwrap(), (1, 6));
        let beta = query(&database, "SELECT round(beta::numeric, 1)::text FROM betas").await;
        assert_eq!(beta, ["0.6"]);
        let held = "SELECT (beta_lo < 0.6 AND 0.6 < beta_hi AND abs(clear_s - 1000) < 5)::text FROM betas";
        assert_eq!(query(&database, held).await, ["true"]);
        // Nothing new is learnt of the same runs; another run makes another version.
        assert_eq!(learn(&database.settings()).await.unwrap().0, 0);
        database.execute(&runs("cfd", 150, 1_000.0, &[300.0], "near")).await;
        assert_eq!(learn(&database.settings()).await.unwrap().0, 1);
        let versions = "SELECT string_agg(version || ':' || runs, ' ' ORDER BY version) FROM betas";
        assert_eq!(query(&database, versions).await, ["1:6 2:7"]);
    });
}

#[test]
fn a_loss_becomes_factors_and_missing_runs_are_a_caveat() {
    on_each_server(|database: Database| async move {
        fill(&database).await;
        learn(&database.settings()).await.unwrap();
        let factors = "SELECT concat_ws(' ', configuration, round((other_s / 100)::numeric, 2),
                                        round((self_s / 100)::numeric, 2), beta_version, caveat)
                       FROM job_factors WHERE job_id = '300'";
        let without = "rare on 2 nodes 0.70 0.20 0 no finished runs of this configuration to learn from";
        assert_eq!(query(&database, factors).await, [without]);
        let ordered =
            "SELECT bool_and(other_lo_s <= other_s AND other_s <= other_hi_s AND self_lo_s <= self_s
                                       AND self_s <= self_hi_s)::text FROM job_factors";
        assert_eq!(query(&database, ordered).await, ["true"]);
    });
}

#[test]
fn a_placement_is_compared_with_the_best_known_one() {
    on_each_server(|database: Database| async move {
        fill(&database).await;
        learn(&database.settings()).await.unwrap();
        let of = |job: &str| {
            format!("SELECT round(placement::numeric, 1)::text FROM job_factors WHERE job_id = '{job}'")
        };
        assert_eq!(query(&database, &of("100")).await, ["1.0"]);
        assert_eq!(query(&database, &of("200")).await, ["1.2"]);
    });
}

#[test]
fn the_writer_may_learn_and_a_user_may_not() {
    on_each_server(|database: Database| async move {
        fill(&database).await;
        for (role, allowed) in
            [("tailback_writer", true), ("tailback_reader", false), ("tailback_user", false)]
        {
            let asked = format!("SELECT has_function_privilege('{role}', 'learn_betas()', 'EXECUTE')::text");
            assert_eq!(query(&database, &asked).await, [allowed.to_string()], "{role}");
        }
    });
}
