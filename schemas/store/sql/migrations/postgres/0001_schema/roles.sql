-- Roles and their rights. Group roles without login; an administrator grants them to the accounts. They belong to the
-- whole cluster.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['tailback_writer', 'tailback_reader', 'tailback_user'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- a migration of another database created it in the meantime
            END;
        END IF;
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA public TO tailback_writer, tailback_reader, tailback_user;

-- Contents of rejected messages may name jobs of others: for writers and readers only.
GRANT SELECT ON schema_migrations, metrics, series, signal_rows, signal_buckets, signal_minutes, signal_hours, place_buckets,
    signals, signals_10s, signals_1min, signals_1h, places_10s, places_1min, places_1h, clock, series_now,
    episodes, series_episodes,
    jobs, job_nodes, job_sizes, job_results, job_causes, job_progress, job_measured, job_series, job_mounts, job_factors, job_slowdown, job_costs, job_cost_shares, job_causes_shown, job_episodes,
    job_runs, job_resources, betas,
    regions, region_steps, region_series, region_causes, region_victims, region_losses, region_causes_shown, blame,
    node_switches, node_places, link_places, component_places, place_minutes, place_hours, component_hours, component_minutes, file_system_bytes,
    health_minutes, roll_up_progress, tier_retention,
    alert_incidents, alert_outbox, alert_silences, alerts, incidents,
    storage_losses, storage_incidents, storage_losses_computed, storage_losses_kept,
    producers, event_sources, expected_sources, silences, sources, dropped_counts, dropped_rows, rejected_messages,
    stage_positions, state_generation, health_limits, stage_backlog, monitor_health TO tailback_writer, tailback_reader;

GRANT SELECT ON stage_snapshots, alert_marks TO tailback_writer;
GRANT INSERT ON series, signal_rows, signal_buckets, signal_minutes, signal_hours, place_buckets TO tailback_writer;
-- New series are written by COPY with their numbers.
GRANT USAGE ON SEQUENCE series_series_id_seq TO tailback_writer;
GRANT INSERT, UPDATE, DELETE ON metrics, health_limits, stage_backlog, episodes, jobs, job_nodes, job_results, job_causes, job_progress, job_series, job_factors, regions,
    region_steps, region_series, region_causes, region_victims, node_switches, link_places, alert_incidents, alert_outbox,
    alert_silences, alert_marks, producers, event_sources, expected_sources, silences, dropped_counts, rejected_messages, stage_positions,
    stage_snapshots TO tailback_writer;

GRANT SELECT ON metrics, jobs, job_nodes, job_sizes, job_results, job_progress, job_series, job_mounts, job_factors, job_slowdown, job_costs, job_cost_shares,
    job_causes_shown, job_episodes, job_runs, job_resources, regions, region_steps, region_series, region_victims, region_causes_shown, own_regions, node_places,
    clock, blame TO tailback_user;
-- `series_or_job` may be the job of another user; `job_causes_shown` has it where the user may know it.
GRANT SELECT (job_id, position, cause, kind, share) ON job_causes TO tailback_user;

REVOKE EXECUTE ON FUNCTION interval_words, job_named, job_post_mortem, job_neighbours, compare_jobs, job_loss_curve, region_history,
    worst_links, placement_advice, application_advice, signals_over, counters_over, places_known_until, places_over, storage_sizes,
    learn_betas, write_factors, roll_up, roll_up_minutes, roll_up_components, roll_up_places, roll_up_hours, roll_up_component_hours,
    roll_up_place_hours, sum_file_system_bytes, pack_file_system_bytes, roll_up_file_system_bytes, place_components, write_health, forget_places, sum_places, count_job_nodes, put_job_mounts, sum_region_losses, sum_storage_losses, tailback_expire, tailback_expire_results FROM PUBLIC;
GRANT EXECUTE ON FUNCTION interval_words, job_named, job_post_mortem, job_neighbours, compare_jobs, job_loss_curve, region_history,
    worst_links, placement_advice, application_advice, signals_over, counters_over, places_known_until, places_over, storage_sizes
    TO tailback_writer, tailback_reader;
-- The others answer about the jobs of all users and the whole machine.
GRANT EXECUTE ON FUNCTION interval_words, job_named, job_post_mortem, job_neighbours, compare_jobs, job_loss_curve, region_history
    TO tailback_user;
GRANT EXECUTE ON FUNCTION learn_betas, write_factors, roll_up, sum_storage_losses, tailback_expire TO tailback_writer;

-- A user sees the own jobs: those of the account that logged in, not of the role that was set afterwards.
DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['jobs', 'job_nodes', 'job_sizes', 'job_results', 'job_causes', 'job_progress', 'job_series', 'job_mounts', 'job_factors', 'regions',
                                   'region_steps', 'region_series', 'region_causes', 'region_victims'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
        EXECUTE format('CREATE POLICY writer_all ON %I TO tailback_writer USING (true) WITH CHECK (true)', guarded);
        EXECUTE format('CREATE POLICY reader_all ON %I FOR SELECT TO tailback_reader USING (true)', guarded);
    END LOOP;
    CREATE POLICY user_own ON jobs FOR SELECT TO tailback_user USING (user_name = session_user);
    -- The policy of `jobs` applies inside the subquery. `region_causes` has none for users: they see nothing of it.
    FOREACH guarded IN ARRAY ARRAY['job_nodes', 'job_sizes', 'job_results', 'job_causes', 'job_progress', 'job_series', 'job_mounts', 'job_factors',
                                   'region_victims'] LOOP
        EXECUTE format('CREATE POLICY user_own ON %I FOR SELECT TO tailback_user '
                       'USING (EXISTS (SELECT FROM jobs j WHERE j.job_id = %I.job_id))', guarded, guarded);
    END LOOP;
    FOREACH guarded IN ARRAY ARRAY['regions', 'region_steps', 'region_series'] LOOP
        EXECUTE format('CREATE POLICY user_own ON %I FOR SELECT TO tailback_user '
                       'USING (region_id IN (SELECT o.region_id FROM own_regions o))', guarded);
    END LOOP;
END $$;
