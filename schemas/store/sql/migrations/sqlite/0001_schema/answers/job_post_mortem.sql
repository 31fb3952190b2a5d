-- One row a fact, as in PostgreSQL; every resource has its row.
CREATE VIEW job_post_mortem AS
SELECT f.job_id, f.fact, f.resource, f.from_time, f.until_time, f.lost_s, f.lost_lo_s, f.lost_hi_s,
       100 * f.lost_s / nullif(r.until_time - r.start_time, 0) AS percent_of_run, f.share, f.cause, f.kind, f.who,
       f.confidence, f.completeness, f.note
FROM (
    SELECT s.job_id, 1 AS part, 'job' AS fact, s.nodes || ' nodes' AS resource, s.start_time AS from_time,
           s.start_time + s.run_s AS until_time, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s,
           s.slowdown_hi_s AS lost_hi_s, NULL AS share, NULL AS cause, NULL AS kind, s.user_name AS who, NULL AS confidence,
           s.completeness,
           trim(s.name || coalesce('; configuration ' || s.configuration, '')
                || CASE WHEN s.end_time IS NULL THEN '; no end is known: it still runs, or its end never arrived'
                        WHEN s.end_presumed THEN '; end not reported' ELSE '' END
                || CASE WHEN coalesce(s.completeness, 0) = 0
                        THEN '; nothing was measured: whether it lost time is not known'
                        WHEN s.completeness - s.judged > 0.005
                        THEN printf('; not judged: %.0f%% of its time, %s', 100 * (s.completeness - s.judged),
                                    iif((s.completeness - s.judged) * s.run_s >= 60, 'in contention since it started',
                                        'no quiet baseline yet')) ELSE '' END
                || CASE WHEN coalesce(s.caveat, '') <> '' THEN '; ' || s.caveat ELSE '' END, '; ') AS note
    FROM job_slowdown s
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'self', s.start_time, s.start_time + s.run_s, f.self_s, f.self_lo_s, f.self_hi_s, NULL, 'self',
           NULL, NULL, NULL, s.completeness, 'lost to its own traffic'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'other jobs', s.start_time, s.start_time + s.run_s, f.other_s, f.other_lo_s, f.other_hi_s, NULL,
           'other_job', NULL, NULL, NULL, s.completeness, 'lost to others'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'placement', s.start_time, s.start_time + s.run_s, s.run_s * (1 - 1 / nullif(f.placement, 0)),
           s.run_s * (1 - 1 / nullif(f.placement_lo, 0)), s.run_s * (1 - 1 / nullif(f.placement_hi, 0)), NULL, NULL, NULL,
           NULL, NULL, s.completeness,
           printf('run time is %.3f [%.3f, %.3f] times that at the best known placement', f.placement, f.placement_lo,
                  f.placement_hi)
    FROM job_factors f JOIN job_slowdown s USING (job_id) WHERE f.placement IS NOT NULL
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'beta', s.start_time, s.start_time + s.run_s, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           s.completeness,
           printf('a contended second costs %.3f s [%.3f, %.3f] of run time, learned from %d runs', f.beta, f.beta_lo,
                  f.beta_hi, f.beta_runs)
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT p.job_id, 2, 'progress', p.name, s.start_time, s.start_time + s.run_s, p.lost_s, p.lost_lo_s, p.lost_hi_s, NULL, NULL,
           NULL, NULL, NULL, p.covered_s / nullif(s.run_s, 0),
           coalesce(printf('%.3f', p.per_s) || ' a second without contention; ', '')
           || CASE p.state WHEN 'measured' THEN 'lost by the job''s own count' WHEN 'never_contended' THEN 'not contended while it reported'
                   WHEN 'never_clear' THEN 'contended all the time: nothing to compare with'
                   WHEN 'counts_files' THEN 'counts its use of files: counters show that loss'
                   WHEN 'stops_for_files' THEN 'stops while the job uses files: counters show that loss' ELSE 'too short to compare' END
    FROM job_progress p JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT c.job_id, 3, 'cause', NULL, s.start_time, s.start_time + s.run_s, c.share * s.slowdown_s, c.share * s.slowdown_lo_s,
           c.share * s.slowdown_hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, s.completeness, NULL
    FROM job_causes c JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT v.job_id, 4, 'region', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), v.lost_s, v.lost_lo_s,
           v.lost_hi_s, v.share, r.cause, r.kind, c.series_or_job, coalesce(c.confidence, r.confidence), r.completeness,
           printf('region %d: %d links at most, peak %.3f%s', r.region_id, r.links_most, r.peak,
                  iif(r.open, ', ongoing', ''))
    FROM region_victims v JOIN regions r USING (region_id) JOIN job_runs j USING (job_id)
    LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
    UNION ALL
    SELECT j.job_id, 5, 'load', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), NULL, NULL, NULL,
           c.share, c.cause, r.kind, j.job_id, c.confidence, r.completeness,
           printf('region %d: the job makes a part of its load (%s)', r.region_id,
                  (SELECT group_concat(e.value, ', ') FROM json_each(c.evidence) e))
    FROM region_causes c JOIN job_runs j ON j.job_id = c.series_or_job JOIN regions r USING (region_id)
    WHERE r.start_time < j.until_time AND r.end_time > j.start_time
    UNION ALL
    SELECT e.job_id, 6, 'resource', s.name, min(e.from_time), max(e.until_time), sum(e.lost_s), sum(e.lost_lo_s),
           sum(e.lost_hi_s), NULL, NULL, NULL, NULL, NULL, avg(e.completeness),
           printf('%d episodes, contended %.1f s', count(*), sum(e.until_time - e.from_time))
    FROM job_episodes e JOIN series s USING (series_id) GROUP BY e.job_id, e.series_id
) f JOIN job_runs r USING (job_id)
ORDER BY f.part, f.fact, f.lost_lo_s IS NULL, f.lost_lo_s DESC, f.lost_s DESC, f.share IS NULL, f.share DESC, f.resource;
