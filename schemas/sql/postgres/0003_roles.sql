-- Group roles without login; an administrator grants them to the accounts. They belong to the whole cluster.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tailback_writer', 'tailback_reader', 'tailback_user'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database's migration was first
            END;
        END IF;
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA public TO tailback_writer, tailback_reader, tailback_user;

GRANT SELECT ON schema_migrations, signals, signals_10s, signals_1min, signals_1h, series_now, series_episodes,
    clock, dropped_rows, job_slowdown TO tailback_writer, tailback_reader;
GRANT SELECT ON series, signal_rows, signal_buckets, episodes, jobs, job_nodes, job_results, job_causes, job_series,
    dropped_counts, producers, stage_positions TO tailback_writer, tailback_reader;
GRANT INSERT ON signal_rows, signal_buckets TO tailback_writer;
GRANT INSERT ON series TO tailback_writer;
GRANT INSERT, UPDATE, DELETE ON episodes, jobs, job_nodes, job_results, job_causes, job_series, dropped_counts,
    producers, stage_positions, stage_snapshots TO tailback_writer;
GRANT SELECT ON stage_snapshots TO tailback_writer;
REVOKE EXECUTE ON FUNCTION tailback_expire FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tailback_expire TO tailback_writer;

-- A user sees the own jobs: who logged in, not the role that was set afterwards.
GRANT SELECT ON jobs, job_nodes, job_results, job_causes, job_series, job_slowdown TO tailback_user;
DO $$
DECLARE
    of_jobs text;
BEGIN
    FOREACH of_jobs IN ARRAY ARRAY['jobs', 'job_nodes', 'job_results', 'job_causes', 'job_series'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', of_jobs);
        EXECUTE format('CREATE POLICY writer_all ON %I TO tailback_writer USING (true) WITH CHECK (true)', of_jobs);
        EXECUTE format('CREATE POLICY reader_all ON %I FOR SELECT TO tailback_reader USING (true)', of_jobs);
    END LOOP;
    CREATE POLICY user_own ON jobs FOR SELECT TO tailback_user USING (user_name = session_user);
    -- The policy of `jobs` applies inside the subquery.
    FOREACH of_jobs IN ARRAY ARRAY['job_nodes', 'job_results', 'job_causes', 'job_series'] LOOP
        EXECUTE format('CREATE POLICY user_own ON %I FOR SELECT TO tailback_user '
                       'USING (EXISTS (SELECT FROM jobs j WHERE j.job_id = %I.job_id))', of_jobs, of_jobs);
    END LOOP;
END $$;
