-- Two 95% intervals in words; null where one is not known.
CREATE FUNCTION interval_words(lo_a double precision, hi_a double precision, lo_b double precision, hi_b double precision)
    RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('95%%: [%s, %s] and [%s, %s]', round($1::numeric, 1), round($2::numeric, 1), round($3::numeric, 1),
                  round($4::numeric, 1))
$$;

-- Two runs side by side. The configurations are first: where they differ, so may the run times, and contention is not
-- the reason.
CREATE FUNCTION compare_jobs(a text, b text)
    RETURNS TABLE (item text, unit text, value_a text, value_b text, difference double precision, note text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH side_a AS (SELECT s.*, f.beta_runs, f.self_lo_s, f.self_hi_s, f.other_lo_s, f.other_hi_s FROM job_slowdown s LEFT JOIN job_factors f USING (job_id) WHERE s.job_id = job_named($1)),
    side_b AS (SELECT s.*, f.beta_runs, f.self_lo_s, f.self_hi_s, f.other_lo_s, f.other_hi_s FROM job_slowdown s LEFT JOIN job_factors f USING (job_id) WHERE s.job_id = job_named($2)),
    lost AS (
        SELECT c.cause, sum(c.share * s.slowdown_s) FILTER (WHERE s.side = 'a') AS a,
               sum(c.share * s.slowdown_lo_s) FILTER (WHERE s.side = 'a') AS a_lo,
               sum(c.share * s.slowdown_hi_s) FILTER (WHERE s.side = 'a') AS a_hi,
               sum(c.share * s.slowdown_s) FILTER (WHERE s.side = 'b') AS b,
               sum(c.share * s.slowdown_lo_s) FILTER (WHERE s.side = 'b') AS b_lo,
               sum(c.share * s.slowdown_hi_s) FILTER (WHERE s.side = 'b') AS b_hi
        FROM (SELECT 'a' AS side, x.job_id, x.slowdown_s, x.slowdown_lo_s, x.slowdown_hi_s FROM side_a x
              UNION ALL SELECT 'b', x.job_id, x.slowdown_s, x.slowdown_lo_s, x.slowdown_hi_s FROM side_b x) s JOIN job_causes_shown c USING (job_id)
        GROUP BY c.cause
    ), items AS (
        SELECT v.* FROM side_a x CROSS JOIN side_b y CROSS JOIN LATERAL (VALUES
            (1, 'configuration', '', x.configuration, y.configuration, NULL::double precision, NULL::double precision,
             CASE WHEN x.configuration IS NULL OR y.configuration IS NULL
                  THEN 'not known of both: whether the runs can be compared is not known'
                  WHEN x.configuration <> y.configuration
                  THEN 'configurations differ: a difference in run time is not contention' END),
            (2, 'nodes', '', NULL, NULL, x.nodes, y.nodes,
             format('%s nodes in common', (SELECT count(*) FROM job_nodes n JOIN job_nodes m USING (node)
                                           WHERE n.job_id = x.job_id AND m.job_id = y.job_id))),
            (3, 'run', 's', NULL, NULL, x.run_s, y.run_s, CASE WHEN x.end_time IS NULL OR y.end_time IS NULL
                                                              THEN 'no end of both is known' END),
            (4, 'lost', 's', NULL, NULL, x.slowdown_s, y.slowdown_s,
             concat_ws('; ', interval_words(x.slowdown_lo_s, x.slowdown_hi_s, y.slowdown_lo_s, y.slowdown_hi_s),
                       CASE WHEN x.slowdown_lo_s <= y.slowdown_hi_s AND y.slowdown_lo_s <= x.slowdown_hi_s
                            THEN 'they overlap: no difference is certain' END)),
            (5, 'lost of the run', '%', NULL, NULL, x.slowdown_percent, y.slowdown_percent,
             interval_words(100 * x.slowdown_lo_s / nullif(x.run_s, 0), 100 * x.slowdown_hi_s / nullif(x.run_s, 0),
                            100 * y.slowdown_lo_s / nullif(y.run_s, 0), 100 * y.slowdown_hi_s / nullif(y.run_s, 0))),
            (6, 'contended', 's', NULL, NULL, x.contended_s, y.contended_s, NULL),
            (7, 'run without the loss', 's', NULL, NULL, x.run_s - x.slowdown_s, y.run_s - y.slowdown_s,
             interval_words(greatest(0, x.run_s - x.slowdown_hi_s), x.run_s - x.slowdown_lo_s,
                            greatest(0, y.run_s - y.slowdown_hi_s), y.run_s - y.slowdown_lo_s)),
            (8, 'completeness', '', NULL, NULL, x.completeness, y.completeness,
             CASE WHEN coalesce(least(x.completeness, y.completeness), 0) < 0.9
                    OR x.completeness IS NULL OR y.completeness IS NULL
                  THEN 'a tenth or more of the data is missing: losses may be larger than reported' END),
            (9, 'factor self', 's', NULL, NULL, x.self_s, y.self_s,
             interval_words(x.self_lo_s, x.self_hi_s, y.self_lo_s, y.self_hi_s)),
            (10, 'factor other jobs', 's', NULL, NULL, x.other_s, y.other_s,
             interval_words(x.other_lo_s, x.other_hi_s, y.other_lo_s, y.other_hi_s)),
            (11, 'factor placement', '', NULL, NULL, x.placement, y.placement, NULL),
            (12, 'beta', '', NULL, NULL, x.beta, y.beta, NULL),
            (13, 'regions', '', NULL, NULL, x.regions, y.regions, NULL)
        ) AS v (part, item, unit, text_a, text_b, figure_a, figure_b, note)
        UNION ALL
        SELECT 14, 'cause ' || l.cause, 's', NULL, NULL, l.a, l.b,
               coalesce(interval_words(l.a_lo, l.a_hi, l.b_lo, l.b_hi),
                        format('95%%: [%s, %s]', round(coalesce(l.a_lo, l.b_lo)::numeric, 1), round(coalesce(l.a_hi, l.b_hi)::numeric, 1)))
        FROM lost l WHERE EXISTS (SELECT FROM side_a) AND EXISTS (SELECT FROM side_b)
    )
    SELECT i.item, i.unit, coalesce(i.text_a, trim_scale(round(i.figure_a::numeric, 3))::text),
           coalesce(i.text_b, trim_scale(round(i.figure_b::numeric, 3))::text), i.figure_a - i.figure_b, i.note
    FROM items i ORDER BY i.part, i.item
$$;
