-- Two runs side by side: WHERE job_a = ? AND job_b = ?.
CREATE VIEW compare_jobs AS
SELECT c.job_a, c.job_b, c.item, c.unit, c.value_a, c.value_b, iif(c.part = 1, NULL, c.value_a - c.value_b) AS difference, c.note
FROM (
    SELECT a.job_id AS job_a, b.job_id AS job_b, 1 AS part, 'configuration' AS item, '' AS unit,
           a.configuration AS value_a, b.configuration AS value_b,
           CASE WHEN a.configuration IS NULL OR b.configuration IS NULL
                THEN 'not known of both: whether the runs can be compared is not known'
                WHEN a.configuration <> b.configuration
                THEN 'configurations differ: a difference in run time is not contention' END AS note
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 2, 'nodes', '', a.nodes, b.nodes,
           (SELECT count(*) FROM job_nodes n JOIN job_nodes m USING (node)
            WHERE n.job_id = a.job_id AND m.job_id = b.job_id) || ' nodes in common'
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 3, 'run', 's', a.run_s, b.run_s,
           iif(a.end_time IS NULL OR b.end_time IS NULL, 'no end of both is known', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 4, 'lost', 's', a.slowdown_s, b.slowdown_s,
           iif((a.slowdown_lo_s) + (a.slowdown_hi_s) + (b.slowdown_lo_s) + (b.slowdown_hi_s) IS NULL, NULL, printf('95%%: [%.1f, %.1f] and [%.1f, %.1f]', a.slowdown_lo_s, a.slowdown_hi_s, b.slowdown_lo_s, b.slowdown_hi_s))
           || iif(a.slowdown_lo_s <= b.slowdown_hi_s AND b.slowdown_lo_s <= a.slowdown_hi_s,
                  '; they overlap: no difference is certain', '')
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 5, 'lost of the run', '%', a.slowdown_percent, b.slowdown_percent,
           iif((100 * a.slowdown_lo_s / a.run_s) + (100 * a.slowdown_hi_s / a.run_s) + (100 * b.slowdown_lo_s / b.run_s) + (100 * b.slowdown_hi_s / b.run_s) IS NULL, NULL, printf('95%%: [%.1f, %.1f] and [%.1f, %.1f]', 100 * a.slowdown_lo_s / a.run_s, 100 * a.slowdown_hi_s / a.run_s, 100 * b.slowdown_lo_s / b.run_s, 100 * b.slowdown_hi_s / b.run_s))
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 6, 'contended', 's', a.contended_s, b.contended_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 7, 'run without the loss', 's', a.run_s - a.slowdown_s, b.run_s - b.slowdown_s,
           iif((max(0, a.run_s - a.slowdown_hi_s)) + (a.run_s - a.slowdown_lo_s) + (max(0, b.run_s - b.slowdown_hi_s)) + (b.run_s - b.slowdown_lo_s) IS NULL, NULL, printf('95%%: [%.1f, %.1f] and [%.1f, %.1f]', max(0, a.run_s - a.slowdown_hi_s), a.run_s - a.slowdown_lo_s, max(0, b.run_s - b.slowdown_hi_s), b.run_s - b.slowdown_lo_s))
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 8, 'completeness', '', a.completeness, b.completeness,
           iif(coalesce(min(a.completeness, b.completeness), 0) < 0.9,
               'a tenth or more of the data is missing: losses may be larger than reported', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 9, 'factor self', 's', a.self_s, b.self_s,
           iif((f.self_lo_s) + (f.self_hi_s) + (g.self_lo_s) + (g.self_hi_s) IS NULL, NULL, printf('95%%: [%.1f, %.1f] and [%.1f, %.1f]', f.self_lo_s, f.self_hi_s, g.self_lo_s, g.self_hi_s))
    FROM job_slowdown a CROSS JOIN job_slowdown b
    LEFT JOIN job_factors f ON f.job_id = a.job_id LEFT JOIN job_factors g ON g.job_id = b.job_id
    UNION ALL
    SELECT a.job_id, b.job_id, 10, 'factor other jobs', 's', a.other_s, b.other_s,
           iif((f.other_lo_s) + (f.other_hi_s) + (g.other_lo_s) + (g.other_hi_s) IS NULL, NULL, printf('95%%: [%.1f, %.1f] and [%.1f, %.1f]', f.other_lo_s, f.other_hi_s, g.other_lo_s, g.other_hi_s))
    FROM job_slowdown a CROSS JOIN job_slowdown b
    LEFT JOIN job_factors f ON f.job_id = a.job_id LEFT JOIN job_factors g ON g.job_id = b.job_id
    UNION ALL
    SELECT a.job_id, b.job_id, 11, 'factor placement', '', a.placement, b.placement, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 12, 'beta', '', a.beta, b.beta, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 13, 'regions', '', a.regions, b.regions, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT x.a_id, x.b_id, 14, 'cause ' || x.cause, 's', x.a_share * x.a_s, x.b_share * x.b_s,
           printf('95%%: %s', concat_ws(' and ', iif(x.a_share * x.a_hi IS NULL, NULL, printf('[%.1f, %.1f]', x.a_share * x.a_lo, x.a_share * x.a_hi)),
                                        iif(x.b_share * x.b_hi IS NULL, NULL, printf('[%.1f, %.1f]', x.b_share * x.b_lo, x.b_share * x.b_hi))))
    FROM (SELECT a.job_id AS a_id, b.job_id AS b_id, w.cause, a.slowdown_s AS a_s, a.slowdown_lo_s AS a_lo, a.slowdown_hi_s AS a_hi,
                 b.slowdown_s AS b_s, b.slowdown_lo_s AS b_lo, b.slowdown_hi_s AS b_hi,
                 (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = a.job_id AND c.cause = w.cause) AS a_share,
                 (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = b.job_id AND c.cause = w.cause) AS b_share
          FROM job_slowdown a CROSS JOIN job_slowdown b CROSS JOIN (SELECT DISTINCT cause FROM job_causes) w
          WHERE EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id IN (a.job_id, b.job_id) AND c.cause = w.cause)) x
) c
ORDER BY c.part, c.item;
