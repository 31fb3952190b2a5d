-- Jobs that ran at the same time and shared a switch (an Aries router), a group, a file system or a region; a row for
-- each way of sharing. `what` names at most twenty of the things shared. A user sees own jobs only.
CREATE FUNCTION job_neighbours(job text)
    RETURNS TABLE (job_id text, user_name text, name text, from_time timestamptz, until_time timestamptz,
                   overlap_s double precision, shared text, count bigint, what text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH run AS (
        SELECT r.* FROM job_runs r WHERE r.job_id = job_named($1)
    ), others AS (
        SELECT o.job_id, greatest(o.start_time, run.start_time) AS from_time,
               least(o.until_time, run.until_time) AS until_time
        FROM run JOIN job_runs o ON o.job_id <> run.job_id AND o.start_time < run.until_time
                                AND o.until_time > run.start_time
    ), asked AS MATERIALIZED (
        SELECT o.job_id FROM others o UNION ALL SELECT run.job_id FROM run
    ), placed AS MATERIALIZED (
        SELECT p.node, p.switch, p.group_name FROM node_places p
    ), own AS MATERIALIZED (
        SELECT DISTINCT p.switch, p.group_name FROM job_nodes n JOIN placed p USING (node) WHERE n.job_id = (SELECT run.job_id FROM run)
    ), near AS MATERIALIZED (
        -- Other switches and groups are not shared.
        SELECT p.* FROM placed p WHERE p.switch IN (SELECT w.switch FROM own w) OR p.group_name IN (SELECT w.group_name FROM own w)
    ), places AS MATERIALIZED (
        SELECT DISTINCT n.job_id, p.switch, p.group_name FROM job_nodes n JOIN near p USING (node)
        WHERE n.job_id IN (SELECT a.job_id FROM asked a)
    ), things AS (
        SELECT p.job_id, 'switch' AS shared, p.switch AS what FROM places p
        UNION
        SELECT p.job_id, 'group', p.group_name FROM places p WHERE p.group_name IS NOT NULL
        UNION
        SELECT m.job_id, 'file system', m.mount FROM job_mounts m WHERE m.job_id IN (SELECT a.job_id FROM asked a)
        UNION
        SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
        WHERE v.job_id IN (SELECT a.job_id FROM asked a)
        UNION
        SELECT c.series_or_job, 'region', r.name FROM region_causes_shown c JOIN regions r USING (region_id)
        WHERE c.series_or_job IN (SELECT a.job_id FROM asked a)
    ), common AS (
        SELECT t.job_id, t.shared, count(*) AS count,
               array_to_string((array_agg(t.what ORDER BY t.what))[1:20], ', ') || CASE WHEN count(*) > 20 THEN ', …' ELSE '' END
                   AS what
        FROM things t JOIN things mine USING (shared, what)
        WHERE mine.job_id = (SELECT run.job_id FROM run)
        GROUP BY t.job_id, t.shared
    )
    SELECT o.job_id, j.user_name, j.name, o.from_time, o.until_time,
           extract(epoch FROM o.until_time - o.from_time)::double precision, c.shared, c.count, c.what
    FROM others o JOIN common c USING (job_id) JOIN jobs j USING (job_id)
    ORDER BY 6 DESC, 1, 7
$$;
