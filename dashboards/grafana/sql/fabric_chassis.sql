-- The group by position: a line for each chassis, a column for each slot; of other networks sixteen switches a line.
WITH placed AS (
    SELECT n.component, n.state,
           regexp_match(n.component, '^(c\d{1,6}-\d{1,6}c\d+)s(\d{1,3})$') AS cname,
           dense_rank() OVER (ORDER BY n.component) - 1 AS place
    FROM series_now n JOIN component_places p USING (metric, component)
    WHERE n.metric = ${metric:sqlstring} AND p.group_name = ${group:sqlstring}
), shares AS (
    SELECT component, coalesce(cname[1], 'switches from ' || place / 16 * 16) AS chassis,
           coalesce(cname[2]::integer, place % 16) AS slot,
           count(*) FILTER (WHERE state = 'contended')::double precision
               / nullif(count(*) FILTER (WHERE state NOT IN ('unknown', 'warmup')), 0) AS share
    FROM placed GROUP BY 1, 2, 3
)
SELECT chassis, max(share) FILTER (WHERE slot = 0) AS s0, max(share) FILTER (WHERE slot = 1) AS s1,
       max(share) FILTER (WHERE slot = 2) AS s2, max(share) FILTER (WHERE slot = 3) AS s3,
       max(share) FILTER (WHERE slot = 4) AS s4, max(share) FILTER (WHERE slot = 5) AS s5,
       max(share) FILTER (WHERE slot = 6) AS s6, max(share) FILTER (WHERE slot = 7) AS s7,
       max(share) FILTER (WHERE slot = 8) AS s8, max(share) FILTER (WHERE slot = 9) AS s9,
       max(share) FILTER (WHERE slot = 10) AS s10, max(share) FILTER (WHERE slot = 11) AS s11,
       max(share) FILTER (WHERE slot = 12) AS s12, max(share) FILTER (WHERE slot = 13) AS s13,
       max(share) FILTER (WHERE slot = 14) AS s14, max(share) FILTER (WHERE slot = 15) AS s15
FROM shares GROUP BY chassis ORDER BY chassis
