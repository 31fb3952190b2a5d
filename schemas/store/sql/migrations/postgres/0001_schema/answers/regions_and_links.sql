-- Timeline of a region. A user sees regions in which own jobs wait or to whose load they contribute.
CREATE FUNCTION region_history(region bigint)
    RETURNS TABLE (at_time timestamptz, change text, other bigint, other_name text, links integer, worst_series text,
                   worst double precision)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    SELECT s.time, s.change, nullif(s.other, 0), o.name, s.links, s.worst_series, s.worst
    FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
    WHERE s.region_id = $1 ORDER BY s.time, s.change, s.other
$$;

-- Series by seconds lost between two times, the largest lower end first, then the largest loss. Rows are read only of episodes that cross one of the times.
-- Planned for the requested times, and by the index of ends: the planner takes the two ends for independent, and would read
-- all episodes for an hour of them.
CREATE FUNCTION worst_links(from_time timestamptz, until_time timestamptz, most integer DEFAULT 50)
    RETURNS TABLE (rank bigint, series text, metric text, lost_s double precision, lost_lo_s double precision,
                   lost_hi_s double precision, contended_s double precision, contended_share double precision,
                   episodes bigint, peak double precision, completeness double precision, regions text)
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp SET jit = off SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH parts AS (
        SELECT e.series_id, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.peak, e.completeness,
               extract(epoch FROM least(e.end_time, $2) - greatest(e.start_time, $1))::double precision AS contended_s,
               CASE WHEN e.start_time >= $1 AND e.end_time <= $2 THEN 1
                    WHEN e.slowdown_s > 0
                    THEN (SELECT (episode_loss_until(o.start_time, o.profile, o.slowdown_s, $2)
                                  - episode_loss_until(o.start_time, o.profile, o.slowdown_s, $1)) / o.slowdown_s
                          FROM episodes o WHERE o.source_partition = e.source_partition AND o.id = e.id)
                    ELSE 0 END AS share
        FROM episodes e WHERE e.start_time < $2 AND e.end_time > $1
        OFFSET 0 -- the share is computed once for the three losses
    ), ranked AS (
        SELECT p.series_id, sum(p.share * p.slowdown_s) AS lost_s, sum(p.share * p.slowdown_lo_s) AS lost_lo_s,
               sum(p.share * p.slowdown_hi_s) AS lost_hi_s, sum(p.contended_s) AS contended_s, count(*) AS episodes,
               max(p.peak) AS peak, avg(p.completeness) AS completeness
        FROM parts p GROUP BY p.series_id ORDER BY 3 DESC, 2 DESC, 5 DESC, 1 LIMIT $3
    )
    SELECT row_number() OVER (ORDER BY r.lost_lo_s DESC, r.lost_s DESC, r.contended_s DESC, s.name), s.name, s.metric, r.lost_s, r.lost_lo_s,
           r.lost_hi_s, r.contended_s, CASE WHEN isfinite($1) AND isfinite($2) AND $2 > $1
                THEN r.contended_s / extract(epoch FROM $2 - $1)::double precision END, r.episodes, r.peak,
           r.completeness,
           (SELECT string_agg(DISTINCT g.name, ', ') FROM region_series m JOIN regions g USING (region_id)
            WHERE m.series = s.name AND g.start_time < $2 AND g.end_time > $1)
    FROM ranked r JOIN series s USING (series_id) ORDER BY 1;
END $$;
