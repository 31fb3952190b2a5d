-- What is known of an application before a job of it is placed: from its latest 100 finished runs, those of a user where one is
-- given, and of now. It names applications, never jobs or users. A loss has the ends of its interval. Fewer than three judged runs
-- show nothing: the loss is null, and nothing is advised. A run is judged if half of its time had a quiet baseline. It suffers from 2%
-- of its run time on, at least 1% on what the advice is about.
CREATE FUNCTION application_advice(app text, user_name text DEFAULT NULL)
    RETURNS TABLE (topic text, name text, figure double precision, figure_lo double precision, figure_hi double precision, unit text,
                   detail text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET plan_cache_mode = force_custom_plan AS $$
    WITH runs AS MATERIALIZED (
        SELECT j.job_id, j.start_time, j.end_time, extract(epoch FROM j.end_time - j.start_time)::double precision AS run_s,
               r.slowdown_s AS lost_s, r.slowdown_lo_s AS lost_lo_s, r.slowdown_hi_s AS lost_hi_s, coalesce(r.judged >= 0.5, false) AS judged
        FROM jobs j LEFT JOIN job_results r USING (job_id)
        WHERE j.application = $1 AND ($2 IS NULL OR j.user_name = $2) AND j.end_time > j.start_time
          AND j.end_time <= (SELECT now FROM clock) AND NOT j.end_presumed
        ORDER BY j.start_time DESC, j.job_id LIMIT 100
    ), totals AS MATERIALIZED (
        SELECT count(*) AS runs, count(*) FILTER (WHERE judged) AS judged, count(*) FILTER (WHERE judged) >= 3 AS enough,
               min(start_time) AS first, max(start_time) AS latest, sum(run_s) FILTER (WHERE judged) AS judged_s,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY lost_s / run_s) FILTER (WHERE judged) AS share,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY lost_lo_s / run_s) FILTER (WHERE judged) AS share_lo,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY lost_hi_s / run_s) FILTER (WHERE judged) AS share_hi
        FROM runs
    ), judged AS MATERIALIZED (
        SELECT u.* FROM runs u CROSS JOIN totals t WHERE u.judged AND t.enough ORDER BY u.start_time DESC, u.job_id
    ), clients AS MATERIALIZED (
        -- At most 16 clients of a file system a run, spread over its nodes: a run has thousands of them, and loses their mean.
        SELECT c.job_id, c.metric, c.part, c.series_id FROM (
            SELECT u.job_id, s.metric, s.part, s.series_id, count(*) OVER mount AS clients,
                   row_number() OVER (mount ORDER BY s.name COLLATE "C") - 1 AS place
            FROM (SELECT job_id FROM judged LIMIT 20) u JOIN job_series js USING (job_id) JOIN series s USING (series_id)
            JOIN metrics m ON m.metric = s.metric
            WHERE m.resource IS NOT NULL AND s.part IS NOT NULL
            WINDOW mount AS (PARTITION BY u.job_id, s.metric, s.part)
        ) c WHERE c.place % ((c.clients + 15) / 16) = 0
    ), on_mounts AS MATERIALIZED (
        SELECT c.job_id, c.metric, c.part, count(DISTINCT c.series_id) AS clients, coalesce(sum(e.slowdown_s * e.share), 0) AS lost_s,
               coalesce(sum(e.slowdown_lo_s * e.share), 0) AS lost_lo_s, coalesce(sum(e.slowdown_hi_s * e.share), 0) AS lost_hi_s
        FROM clients c JOIN judged u USING (job_id)
        -- Hardly an episode lasts for more than a day: without this bound all earlier ones of a client would be read.
        LEFT JOIN LATERAL (
            SELECT o.slowdown_s, o.slowdown_lo_s, o.slowdown_hi_s,
                   CASE WHEN o.end_time > o.start_time
                        THEN extract(epoch FROM least(o.end_time, u.end_time) - greatest(o.start_time, u.start_time))::double precision
                             / extract(epoch FROM o.end_time - o.start_time)::double precision ELSE 1 END AS share
            FROM episodes o
            WHERE o.series_id = c.series_id AND o.start_time < u.end_time AND o.end_time > u.start_time
              AND o.start_time > u.start_time - interval '1 day' OFFSET 0
        ) e ON true
        GROUP BY 1, 2, 3
    ), mounts AS MATERIALIZED (
        SELECT o.part AS name, o.metric, count(*) AS runs, sum(o.lost_s / o.clients) / sum(u.run_s) AS share,
               sum(o.lost_lo_s / o.clients) / sum(u.run_s) AS share_lo, sum(o.lost_hi_s / o.clients) / sum(u.run_s) AS share_hi
        FROM on_mounts o JOIN judged u USING (job_id)
        GROUP BY 1, 2 HAVING sum(o.lost_s) > 0
        ORDER BY share_lo DESC, share DESC, o.part COLLATE "C", o.metric COLLATE "C" LIMIT 5
    ), links AS MATERIALIZED (
        SELECT r.name, count(DISTINCT v.job_id) AS runs, sum(v.lost_s) / t.judged_s AS share, sum(v.lost_lo_s) / t.judged_s AS share_lo,
               sum(v.lost_hi_s) / t.judged_s AS share_hi
        FROM judged u JOIN region_victims v USING (job_id) JOIN regions r USING (region_id) CROSS JOIN totals t
        GROUP BY r.name, t.judged_s HAVING sum(v.lost_s) > 0
        ORDER BY share_lo DESC, share DESC, r.name COLLATE "C" LIMIT 5
    ), aggressors AS MATERIALIZED (
        SELECT a.application AS name, count(DISTINCT b.victim) AS runs, sum(b.lost_s) / t.judged_s AS share,
               sum(b.lost_lo_s) / t.judged_s AS share_lo, sum(b.lost_hi_s) / t.judged_s AS share_hi
        FROM judged u JOIN blame b ON b.victim = u.job_id JOIN jobs a ON a.job_id = b.aggressor CROSS JOIN totals t
        -- As an array, which the view passes to its index; a join alone reads the causes of all jobs.
        WHERE b.victim = ANY (ARRAY(SELECT o.job_id FROM judged o))
        GROUP BY a.application, t.judged_s
        ORDER BY share_lo DESC, share DESC, a.application COLLATE "C" LIMIT 5
    ), victims AS MATERIALIZED (
        SELECT v.application AS name, count(DISTINCT b.victim) AS jobs, sum(b.lost_node_hours) / t.runs AS cost,
               sum(b.lost_lo_node_hours) / t.runs AS cost_lo, sum(b.lost_hi_node_hours) / t.runs AS cost_hi
        FROM runs u JOIN blame b ON b.aggressor = u.job_id JOIN jobs v ON v.job_id = b.victim CROSS JOIN totals t
        WHERE t.enough AND b.aggressor = ANY (ARRAY(SELECT o.job_id FROM runs o)) GROUP BY v.application, t.runs
        ORDER BY cost_lo DESC, cost DESC, v.application COLLATE "C" LIMIT 5
    ), spans AS MATERIALIZED (
        SELECT f.job_id, f.configuration, f.placement, f.placement_lo, f.placement_hi, count(DISTINCT p.group_name) AS groups
        FROM (SELECT o.* FROM judged u JOIN job_factors o USING (job_id) WHERE o.placement IS NOT NULL
              ORDER BY u.start_time DESC, o.job_id LIMIT 20) f
        JOIN job_nodes n USING (job_id) JOIN node_places p USING (node)
        WHERE p.group_name IS NOT NULL GROUP BY 1, 2, 3, 4, 5
    ), placements AS MATERIALIZED (
        SELECT s.configuration, s.groups, count(*) AS runs, avg(s.placement) AS ratio, avg(s.placement_lo) AS ratio_lo,
               avg(s.placement_hi) AS ratio_hi
        FROM spans s GROUP BY 1, 2 ORDER BY ratio, runs DESC, s.configuration COLLATE "C", s.groups LIMIT 5
    ), running AS MATERIALIZED (
        SELECT a.name, j.job_id FROM aggressors a JOIN jobs j ON j.application = a.name
        WHERE j.start_time <= (SELECT now FROM clock) AND (j.end_time IS NULL OR j.end_time > (SELECT now FROM clock))
    ), running_in AS (
        SELECT r.name, p.group_name, row_number() OVER (PARTITION BY r.name ORDER BY count(DISTINCT n.node) DESC, p.group_name COLLATE "C")
                                         AS place
        FROM running r JOIN job_nodes n USING (job_id) JOIN node_places p USING (node)
        WHERE p.group_name IS NOT NULL GROUP BY 1, 2
    ), running_apps AS MATERIALIZED (
        SELECT r.name, count(*) AS jobs, (SELECT string_agg(i.group_name, ', ' ORDER BY i.place) FROM running_in i
                                          WHERE i.name = r.name AND i.place <= 8) AS groups
        FROM running r GROUP BY r.name
    ), mounts_now AS MATERIALIZED (
        SELECT s.part AS name, count(DISTINCT s.component) AS clients, min(e.start_time) AS since
        FROM episodes e JOIN series s USING (series_id) JOIN metrics m ON m.metric = s.metric
        WHERE e.open AND m.resource IS NOT NULL AND s.part IN (SELECT o.name FROM mounts o) GROUP BY 1
    ), links_now AS MATERIALIZED (
        SELECT r.name, sum(r.links) AS links, min(r.start_time) AS since
        FROM regions r WHERE r.open AND r.name IN (SELECT l.name FROM links l) GROUP BY 1
    ), contended_links AS MATERIALIZED (
        SELECT DISTINCT s.name, s.component FROM regions r JOIN region_series m USING (region_id) JOIN series s ON s.name = m.series
        WHERE r.open AND m.position IS NOT NULL
    ), placed AS MATERIALIZED (SELECT p.node, p.switch, p.group_name FROM node_places p),
    switches AS (SELECT p.switch, min(p.group_name) AS group_name FROM placed p WHERE p.switch IS NOT NULL GROUP BY 1),
    contended_at AS MATERIALIZED (
        SELECT l.name, coalesce(w.switch, n.switch, l.component) AS switch, coalesce(w.group_name, n.group_name) AS group_name
        FROM contended_links l LEFT JOIN switches w ON w.switch = l.component
        LEFT JOIN (SELECT p.node, min(p.switch) AS switch, min(p.group_name) AS group_name FROM placed p GROUP BY 1) n ON n.node = l.component
    ), answer AS (
        SELECT 1 AS part, 'runs' AS topic, 'known' AS name, t.runs::double precision AS figure, NULL::double precision AS figure_lo,
               NULL::double precision AS figure_hi, 'runs' AS unit,
               CASE WHEN t.runs > 0 THEN format('started from %s to %s', to_char(t.first AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                                                to_char(t.latest AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'))
                    ELSE 'no finished run is stored' END AS detail, 0::double precision AS rank
        FROM totals t
        UNION ALL
        SELECT 2, 'runs', 'judged', t.judged, NULL, NULL, 'runs', format('%s not judged, and not counted', t.runs - t.judged), 0 FROM totals t
        UNION ALL
        SELECT 3, 'lost', 'median', CASE WHEN t.enough THEN t.share END, CASE WHEN t.enough THEN t.share_lo END,
               CASE WHEN t.enough THEN t.share_hi END, 'share of run time',
               CASE WHEN t.enough THEN format('of %s runs', t.judged)
                    ELSE format('unknown: %s of at least 3 runs were judged', t.judged) END, 0
        FROM totals t
        UNION ALL
        SELECT 4, 'suffers on file system', m.name, m.share, m.share_lo, m.share_hi, 'share of run time',
               format('%s, in %s runs', m.metric, m.runs), -m.share_lo
        FROM mounts m
        UNION ALL
        SELECT 5, 'suffers on links', l.name, l.share, l.share_lo, l.share_hi, 'share of run time', format('in %s runs', l.runs), -l.share_lo
        FROM links l
        UNION ALL
        SELECT 6, 'loses to', a.name, a.share, a.share_lo, a.share_hi, 'share of run time', format('in %s runs', a.runs), -a.share_lo
        FROM aggressors a
        UNION ALL
        SELECT 7, 'costs', v.name, v.cost, v.cost_lo, v.cost_hi, 'node-hours a run', format('%s of its jobs', v.jobs), -v.cost_lo FROM victims v
        UNION ALL
        SELECT 8, 'placement', p.groups || ' groups', p.ratio, p.ratio_lo, p.ratio_hi, 'times the fastest run time',
               format('%s, %s runs', p.configuration, p.runs), p.ratio
        FROM placements p
        UNION ALL
        SELECT 9, 'runs now', r.name, r.jobs, NULL, NULL, 'jobs', coalesce('groups: ' || r.groups, 'its groups are not known'), -r.jobs
        FROM running_apps r
        UNION ALL
        SELECT 10, 'contended now', m.name, m.clients, NULL, NULL, 'clients',
               format('file system, since %s', to_char(m.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')), -m.clients
        FROM mounts_now m
        UNION ALL
        SELECT 11, 'contended now', l.name, l.links, NULL, NULL, 'links',
               format('links, since %s', to_char(l.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')), -l.links
        FROM links_now l
        UNION ALL
        (SELECT 12, 'avoid group', c.group_name, count(*), NULL, NULL, 'contended links', format('%s switches', count(DISTINCT c.switch)), -count(*)
         FROM contended_at c WHERE c.group_name IS NOT NULL GROUP BY c.group_name ORDER BY count(*) DESC, c.group_name COLLATE "C" LIMIT 10)
        UNION ALL
        (SELECT 13, 'avoid switch', c.switch, count(*), NULL, NULL, 'contended links', coalesce('group ' || min(c.group_name), 'its group is not known'),
                -count(*)
         FROM contended_at c GROUP BY c.switch ORDER BY count(*) DESC, c.switch COLLATE "C" LIMIT 20)
        UNION ALL
        SELECT 14, 'advice', 'Tailback', NULL, NULL, NULL, NULL, a.advice, a.rank
        FROM totals t CROSS JOIN LATERAL (VALUES
            (t.share_hi < 0.02, 1, 'It lost less than 2% of its run time: no placement is advised.'),
            (t.share_lo >= 0.02 AND (SELECT sum(g.share_lo) FROM aggressors g JOIN running_apps r USING (name)) >= 0.01, 2,
             'Applications to which it loses run now: keep away from their groups, or start it later.'),
            (t.share_lo >= 0.02 AND (SELECT sum(m.share_lo) FROM mounts m JOIN mounts_now n USING (name)) >= 0.01, 3,
             'A file system on which it suffers is contended now: start it later, or use another one.'),
            (t.share_lo >= 0.02 AND (SELECT sum(l.share_lo) FROM links l) >= 0.01, 4,
             'It loses on links: place it on few switches, away from contended ones.')
        ) AS a (holds, rank, advice)
        WHERE t.enough AND a.holds
    )
    SELECT a.topic, a.name, a.figure, a.figure_lo, a.figure_hi, a.unit, a.detail FROM answer a
    ORDER BY a.part, a.rank, a.name COLLATE "C", a.detail COLLATE "C"
$$;
