-- How the loss of a job grew: seconds lost from its start until each of so many times. Episodes of several series overlap,
-- and a job waits once for all of them: the shape is theirs, the height is the job's result. Within an episode the loss
-- is taken to grow evenly.
CREATE FUNCTION job_loss_curve(job text, points integer DEFAULT 200)
    RETURNS TABLE (at_time timestamptz, lost_s double precision, lost_lo_s double precision, lost_hi_s double precision)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET enable_memoize = off AS $$
    WITH run AS (
        SELECT r.job_id, r.start_time, r.until_time, extract(epoch FROM r.until_time - r.start_time) / greatest($2, 1) AS step_s,
               j.slowdown_s, j.slowdown_lo_s, j.slowdown_hi_s
        FROM job_runs r LEFT JOIN job_results j USING (job_id)
        WHERE r.job_id = job_named($1) AND r.until_time > r.start_time
    ), stretches AS (
        -- As seconds of the run, to the microsecond: fractions of intervals, and `extract`, are computed digit by digit.
        SELECT e.lost_s, r.step_s::double precision AS step_s,
               date_part('epoch', e.from_time - r.start_time) AS from_s,
               date_part('epoch', e.until_time - r.start_time) AS until_s
        FROM run r JOIN job_episodes e USING (job_id) WHERE e.lost_s > 0 AND e.job_id = job_named($1)
    ), steps AS (
        -- Not a join with the series of steps: that would make a table of them for each episode.
        SELECT e.*, generate_series(greatest(1, ceil(e.from_s / e.step_s))::integer,
                                    greatest(1, ceil(e.until_s / e.step_s))::integer) AS k
        FROM stretches e
    ), parts AS (
        SELECT k AS step, sum(e.lost_s * CASE WHEN e.until_s > e.from_s
                   THEN (least(e.until_s, round(e.step_s * k * 1e6) / 1e6)
                         - greatest(e.from_s, round(e.step_s * (k - 1) * 1e6) / 1e6)) / (e.until_s - e.from_s)
                   ELSE 1 END) AS lost_s
        FROM steps e GROUP BY 1
    ), grown AS (
        SELECT k AS step, sum(coalesce(p.lost_s, 0)) OVER (ORDER BY k)
                          / nullif(sum(coalesce(p.lost_s, 0)) OVER (), 0) AS share
        FROM generate_series(0, greatest($2, 1)) AS k LEFT JOIN parts p ON p.step = k
    )
    SELECT r.start_time + make_interval(secs => r.step_s * g.step), coalesce(g.share, 0) * r.slowdown_s,
           coalesce(g.share, 0) * r.slowdown_lo_s, coalesce(g.share, 0) * r.slowdown_hi_s
    FROM run r CROSS JOIN grown g ORDER BY g.step
$$;
