-- Functions that answer questions; docs/sql.md has an example of each. With the rights of the caller,
-- so that the row policies apply. Compiling such a query costs more than it saves, hence no jit.

-- The number of a job, or for a name that users call jobs by the latest of that name; null for an unknown job.
CREATE FUNCTION job_named(job text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = public, pg_temp AS $$
    SELECT j.job_id FROM jobs j WHERE j.job_id = $1 OR (j.label = $1 AND j.label <> '')
    ORDER BY j.job_id = $1 DESC, j.start_time DESC LIMIT 1
$$;

-- One row a fact: the job, the factors of its loss, its causes, the regions in which it waits, those to whose
-- load it contributes, and the resources that cost it most.
CREATE FUNCTION job_post_mortem(job text)
    RETURNS TABLE (fact text, resource text, from_time timestamptz, until_time timestamptz, lost_s double precision,
                   lost_lo_s double precision, lost_hi_s double precision, percent_of_run double precision,
                   share double precision, cause text, kind text, who text, confidence double precision,
                   completeness double precision, note text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET enable_memoize = off AS $$
    WITH run AS (
        SELECT s.*, s.start_time + make_interval(secs => s.run_s) AS until_time,
               r.slowdown_lo_s AS lo_s, r.slowdown_hi_s AS hi_s
        FROM job_slowdown s LEFT JOIN job_results r USING (job_id) WHERE s.job_id = job_named($1)
    ), per_series AS (
        SELECT e.series_id, min(e.from_time) AS from_time, max(e.until_time) AS until_time, sum(e.lost_s) AS lost_s,
               sum(e.lost_lo_s) AS lost_lo_s, sum(e.lost_hi_s) AS lost_hi_s, count(*) AS episodes,
               sum(extract(epoch FROM e.until_time - e.from_time))::double precision AS contended_s,
               avg(e.completeness) AS completeness, row_number() OVER (ORDER BY sum(e.lost_lo_s) DESC, sum(e.lost_s) DESC, e.series_id) AS place
        FROM job_episodes e WHERE e.job_id = (SELECT run.job_id FROM run)
        GROUP BY e.series_id
    ), facts AS (
        SELECT 1 AS part, 'job' AS fact, format('%s nodes', run.nodes) AS resource, run.start_time AS from_time, run.until_time,
               run.slowdown_s AS lost_s, run.lo_s AS lost_lo_s, run.hi_s AS lost_hi_s, NULL::double precision AS share,
               NULL::text AS cause, NULL::text AS kind, run.user_name AS who, NULL::double precision AS confidence,
               run.completeness,
               concat_ws('; ', nullif(run.name, ''), 'configuration ' || run.configuration,
                         CASE WHEN run.end_time IS NULL THEN 'no end is known: it still runs, or its end never arrived'
                              WHEN run.end_presumed THEN 'end not reported' END,
                         CASE WHEN run.completeness IS NULL OR run.completeness = 0
                              THEN 'nothing was measured: whether it lost time is not known'
                              WHEN run.completeness - run.judged > 0.005
                              THEN format('not judged: %s%% of its time, %s',
                                          round((100 * (run.completeness - run.judged))::numeric),
                                          CASE WHEN (run.completeness - run.judged) * run.run_s >= 60
                                               THEN 'in contention since it started'
                                               ELSE 'no quiet baseline yet' END) END,
                         nullif(run.caveat, '')) AS note
        FROM run
        UNION ALL
        SELECT 2, 'factor', f.what, run.start_time, run.until_time, f.lost_s, f.lo_s, f.hi_s, NULL, f.cause, NULL, NULL, NULL,
               run.completeness, f.note
        FROM run JOIN job_factors j USING (job_id) CROSS JOIN LATERAL (VALUES
            ('self', j.self_s, j.self_lo_s, j.self_hi_s, 'self', 'lost to its own traffic'),
            ('other jobs', j.other_s, j.other_lo_s, j.other_hi_s, 'other_job', 'lost to others'),
            ('placement', run.run_s * (1 - 1 / nullif(j.placement, 0)), run.run_s * (1 - 1 / nullif(j.placement_lo, 0)),
             run.run_s * (1 - 1 / nullif(j.placement_hi, 0)), NULL,
             coalesce(format('run time is %s [%s, %s] times that at the best known placement', round(j.placement::numeric, 3),
                             round(j.placement_lo::numeric, 3), round(j.placement_hi::numeric, 3)),
                      'not known')),
            ('beta', NULL, NULL, NULL, NULL,
             format('a contended second costs %s s [%s, %s] of run time, learned from %s runs', round(j.beta::numeric, 3),
                    round(j.beta_lo::numeric, 3), round(j.beta_hi::numeric, 3), j.beta_runs))
        ) AS f (what, lost_s, lo_s, hi_s, cause, note)
        WHERE f.what <> 'placement' OR j.placement IS NOT NULL
        UNION ALL
        SELECT 2, 'progress', p.name, run.start_time, run.until_time, p.lost_s, p.lost_lo_s, p.lost_hi_s, NULL, NULL, NULL, NULL,
               NULL, p.covered_s / nullif(run.run_s, 0),
               concat_ws('; ', round(p.per_s::numeric, 3) || ' a second without contention',
                   CASE p.state WHEN 'measured' THEN 'lost by the job''s own count' WHEN 'never_contended' THEN 'not contended while it reported'
                        WHEN 'never_clear' THEN 'contended all the time: nothing to compare with'
                        WHEN 'counts_files' THEN 'counts its use of files: counters show that loss'
                        WHEN 'stops_for_files' THEN 'stops while the job uses files: counters show that loss' ELSE 'too short to compare' END)
        FROM run JOIN job_progress p USING (job_id)
        UNION ALL
        SELECT 3, 'cause', NULL, run.start_time, run.until_time, c.share * run.slowdown_s, c.share * run.lo_s,
               c.share * run.hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, run.completeness, NULL
        FROM run JOIN job_causes_shown c ON c.job_id = (SELECT run.job_id FROM run)
        UNION ALL
        SELECT 4, 'region', r.name, greatest(r.start_time, run.start_time), least(r.end_time, run.until_time), v.lost_s,
               v.lost_lo_s, v.lost_hi_s, v.share, r.cause, r.kind, c.series_or_job, coalesce(c.confidence, r.confidence), r.completeness,
               format('region %s: %s links at most, peak %s%s', r.region_id, r.links_most, round(r.peak::numeric, 3),
                      CASE WHEN r.open THEN ', ongoing' ELSE '' END)
        FROM run JOIN region_victims v USING (job_id) JOIN regions r USING (region_id)
        LEFT JOIN LATERAL (
            -- A seek for each region: OFFSET keeps the planner from reading the causes of all.
            SELECT s.series_or_job, s.confidence FROM region_causes_shown s WHERE s.region_id = r.region_id AND s.position = 0 OFFSET 0
        ) c ON true
        UNION ALL
        SELECT 5, 'load', r.name, greatest(r.start_time, run.start_time), least(r.end_time, run.until_time), NULL,
               NULL, NULL, c.share, c.cause, r.kind, run.job_id, c.confidence, r.completeness,
               format('region %s: the job makes a part of its load (%s)', r.region_id,
                      (SELECT string_agg(e.word, ', ') FROM jsonb_array_elements_text(c.evidence) AS e (word)))
        FROM run JOIN region_causes_shown c ON c.series_or_job = run.job_id JOIN regions r USING (region_id)
        WHERE r.start_time < run.until_time AND r.end_time > run.start_time
        UNION ALL
        SELECT 6, 'resource', n.series, p.from_time, p.until_time, p.lost_s, p.lost_lo_s, p.lost_hi_s, NULL, NULL, NULL,
               NULL, NULL, p.completeness, format('%s episodes, contended %s s', p.episodes, round(p.contended_s::numeric, 1))
        FROM per_series p JOIN job_resources n ON n.series_id = p.series_id AND n.job_id = (SELECT run.job_id FROM run)
        WHERE p.place <= 50
        UNION ALL
        SELECT 7, 'resources', format('%s more', count(*)), min(p.from_time), max(p.until_time), NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL, avg(p.completeness),
               format('%s episodes; none of them lost more than %s s', sum(p.episodes), round(max(p.lost_s)::numeric, 1))
        FROM per_series p WHERE p.place > 50 HAVING count(*) > 0
    )
    SELECT f.fact, f.resource, f.from_time, f.until_time, f.lost_s, f.lost_lo_s, f.lost_hi_s,
           100 * f.lost_s / nullif(run.run_s, 0), f.share, f.cause, f.kind, f.who, f.confidence, f.completeness, f.note
    FROM facts f CROSS JOIN run
    ORDER BY f.part, f.fact, f.lost_lo_s DESC NULLS LAST, f.lost_s DESC NULLS LAST, f.share DESC NULLS LAST, f.resource
$$;
