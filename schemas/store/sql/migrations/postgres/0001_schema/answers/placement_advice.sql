-- What a job on these nodes would meet now. `figure` is in `unit`; it is null where nothing is known. Minutes of links are
-- joined: an array of a thousand nodes' links would be searched for each minute of each series, which takes half a
-- minute. The planner underestimates the minutes and would sort them.
CREATE FUNCTION placement_advice(nodes text[])
    RETURNS TABLE (topic text, name text, figure double precision, unit text, detail text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET plan_cache_mode = force_custom_plan
    SET enable_mergejoin = off AS $$
    WITH asked AS (
        SELECT DISTINCT n.node FROM unnest($1) AS n (node) WHERE n.node <> ''
    ), placed AS MATERIALIZED (
        SELECT p.node, p.switch, p.group_name FROM node_places p
    ), places AS MATERIALIZED (
        SELECT a.node, coalesce(p.switch, m.cname[1]) AS switch, coalesce(p.group_name, aries_group(a.node)) AS group_name
        FROM asked a LEFT JOIN placed p USING (node)
        LEFT JOIN LATERAL regexp_match(a.node, '^(c\d+-\d+c\d+s\d+)n\d+$') AS m (cname) ON true
    ), switches AS (
        SELECT p.switch, count(DISTINCT p.node) AS nodes FROM places p WHERE p.switch IS NOT NULL GROUP BY 1
    ), groups AS (
        SELECT p.group_name, count(DISTINCT p.node) AS nodes FROM places p WHERE p.group_name IS NOT NULL GROUP BY 1
    ), links AS (
        SELECT s.series_id, s.name FROM series s
        WHERE s.component IN (SELECT w.switch FROM switches w UNION ALL SELECT a.node FROM asked a)
    ), open_regions AS (
        SELECT r.region_id, r.name, r.peak, r.cause, r.kind, r.relief, r.start_time, count(*) AS links
        FROM regions r JOIN region_series m USING (region_id) JOIN links l ON l.name = m.series
        WHERE r.open AND m.position IS NOT NULL GROUP BY r.region_id
    ), near AS MATERIALIZED (
        -- Switches and groups of running jobs that these nodes have too.
        SELECT j.job_id, w.switch, g.group_name
        FROM jobs j JOIN job_nodes n USING (job_id) JOIN placed p USING (node)
        LEFT JOIN switches w USING (switch) LEFT JOIN groups g ON g.group_name = p.group_name
        WHERE (j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)) AND (w.switch IS NOT NULL OR g.group_name IS NOT NULL)
    ), running AS (
        SELECT n.job_id, count(DISTINCT n.switch) AS switches, count(DISTINCT n.group_name) AS groups FROM near n GROUP BY 1
    ), shared AS (
        SELECT count(DISTINCT n.switch) AS switches FROM near n
    ), hour AS (
        SELECT b.series_id, sum(b.contended_ticks)::double precision / nullif(sum(b.ticks), 0) AS share
        FROM signals_1min b JOIN links USING (series_id)
        WHERE b.time > latest_time() - interval '1 hour'
        GROUP BY 1
    ), facts AS (
        SELECT (SELECT count(*) FROM asked) AS nodes,
               (SELECT count(*) FROM asked a WHERE NOT EXISTS (SELECT FROM places p WHERE p.node = a.node AND p.switch IS NOT NULL))
                   AS unplaced,
               (SELECT count(*) FROM switches) AS switches, (SELECT count(*) FROM groups) AS groups,
               (SELECT count(*) FROM open_regions) AS regions, (SELECT count(*) FROM running) AS jobs,
               (SELECT s.switches FROM shared s) AS shared, (SELECT count(*) FROM links) AS links,
               (SELECT count(*) FROM hour WHERE share IS NOT NULL) AS measured,
               (SELECT avg(share) FROM hour) AS mean_share, (SELECT max(share) FROM hour) AS worst_share
    ), answer AS (
        SELECT 1 AS part, 'span' AS topic, 'switches' AS name, f.switches::double precision AS figure, 'switches' AS unit,
               CASE WHEN f.unplaced > 0 THEN format('the switch of %s of the %s nodes is not known', f.unplaced, f.nodes)
                    ELSE format('%s nodes', f.nodes) END AS detail
        FROM facts f
        UNION ALL
        SELECT 2, 'span', 'groups', f.groups, 'groups',
               (SELECT string_agg(format('%s: %s nodes', g.group_name, g.nodes), ', ' ORDER BY g.group_name) FROM groups g)
        FROM facts f
        UNION ALL
        SELECT 3, 'expected contention', 'mean of its links', f.mean_share, 'share of time',
               format('of the last hour; %s of %s links were measured', f.measured, f.links)
        FROM facts f
        UNION ALL
        SELECT 4, 'expected contention', 'worst link', f.worst_share, 'share of time',
               (SELECT l.name FROM hour h JOIN links l USING (series_id) WHERE h.share IS NOT NULL
                ORDER BY h.share DESC, l.name LIMIT 1)
        FROM facts f
        UNION ALL
        SELECT 5, 'open region', r.name, r.links, 'links of these nodes',
               format('region %s since %s: %s, %s; peak %s', r.region_id, to_char(r.start_time, 'YYYY-MM-DD HH24:MI:SS TZ'),
                      r.cause, r.kind, round(r.peak::numeric, 3))
        FROM open_regions r
        UNION ALL
        SELECT 6, 'running job', r.job_id, r.switches, 'switches shared', format('%s groups shared', r.groups) FROM running r
        UNION ALL
        SELECT 7, 'advice', a.source, NULL, NULL, a.advice
        FROM facts f CROSS JOIN LATERAL (VALUES
            (f.regions > 0, 'Tailback', format('%s contended regions are open on links of these nodes: take others, or wait.',
                                               f.regions)),
            (f.links = 0 OR f.measured = 0, 'Tailback',
             'No link of these nodes was measured in the last hour: what to expect is not known.'),
            (f.shared > 0, 'Brown 2018',
             format('%s of its %s switches are shared with running jobs: whole leaves separate I/O from messages, with at '
                    'least ten times fewer links shared.', f.shared, f.switches)),
            (f.shared = 0 AND f.switches > 0 AND f.unplaced = 0, 'Brown 2018',
             'No switch is shared with a running job, as whole-leaf placement wants it.'),
            (f.groups = 1, 'Kang 2019',
             'One group: nearest-neighbour (stencil) patterns run best on contiguous nodes, tornado-like ones were 2.8 to '
             '17.3 times slower there than on random nodes.'),
            (f.groups > 1, 'Kang 2019',
             format('%s groups: tornado-like patterns run best spread out, stencil patterns were 1.54 to 22.6 times slower on '
                    'random nodes than on contiguous ones. Spread-out jobs lose more to other jobs.', f.groups))
        ) AS a (holds, source, advice)
        WHERE a.holds
    )
    SELECT a.topic, a.name, a.figure, a.unit, a.detail FROM answer a ORDER BY a.part, a.figure DESC NULLS LAST, a.name, a.detail
$$;
