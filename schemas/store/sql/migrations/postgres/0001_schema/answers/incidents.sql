-- Incidents: contended regions, and contention of file systems as the rules of alerts find it. What either lost is the sum of its
-- affected jobs; of a file system that no job used it is what its worst client lost: `lost_by` says which. A job loses to a file
-- system the mean of what its clients lost in the episodes of that time, in the part of each that its run has. The numbers of a notice
-- are older, and of the worst client: they count where the episodes are stored no longer. Of an open incident the end is the latest time.

CREATE VIEW storage_incidents AS
SELECT i.incident, i.subject, n.notice, n.notice #>> '{labels,mount}' AS mount, n.notice #>> '{labels,metric}' AS metric,
       to_timestamp(i.started_s) AS start_time, i.resolved_s,
       coalesce(to_timestamp(i.resolved_s), least(coalesce((SELECT now FROM clock), to_timestamp(i.fired_s)), to_timestamp(i.valid_until_s)))
           AS end_time,
       i.state = 'firing' AND to_timestamp(i.valid_until_s) >= coalesce((SELECT now FROM clock), to_timestamp(i.fired_s)) AS open
FROM alert_incidents i CROSS JOIN LATERAL (SELECT i.notice::jsonb AS notice) n
WHERE n.notice #>> '{labels,mount}' IS NOT NULL;

-- What the episodes of its clients and the runs of jobs say of an incident of a file system. It looks at all series of the jobs that ran.
CREATE VIEW storage_losses_computed AS
SELECT a.incident, a.resolved_s, l.clients, c.first AS cause, l.completeness, coalesce(v.lost_s, l.lost_s) AS lost_s,
       coalesce(v.lost_lo_s, l.lost_lo_s) AS lost_lo_s, coalesce(v.lost_hi_s, l.lost_hi_s) AS lost_hi_s,
       CASE WHEN v.lost_s IS NULL THEN 'worst_client' ELSE 'jobs' END AS lost_by
FROM storage_incidents a LEFT JOIN LATERAL (
    SELECT e.series_id, count(*) OVER () AS clients, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lost_lo_s,
           sum(e.slowdown_hi_s) AS lost_hi_s, min(e.completeness) AS completeness
    FROM series s JOIN episodes e USING (series_id)
    WHERE s.metric = a.metric AND s.part = a.mount AND e.start_time <= a.end_time AND e.end_time >= a.start_time
    GROUP BY e.series_id ORDER BY sum(e.slowdown_lo_s) DESC, sum(e.slowdown_s) DESC, e.series_id LIMIT 1
) l ON true LEFT JOIN LATERAL (
    SELECT e.causes -> 0 AS first FROM episodes e
    WHERE e.series_id = l.series_id AND e.start_time <= a.end_time AND e.end_time >= a.start_time
    ORDER BY e.slowdown_s DESC, e.start_time LIMIT 1
) c ON true LEFT JOIN LATERAL (
    SELECT sum(j.lost_s) AS lost_s, sum(j.lost_lo_s) AS lost_lo_s, sum(j.lost_hi_s) AS lost_hi_s FROM (
        SELECT sum(e.slowdown_s * p.share) / count(DISTINCT s.series_id) AS lost_s,
               sum(e.slowdown_lo_s * p.share) / count(DISTINCT s.series_id) AS lost_lo_s,
               sum(e.slowdown_hi_s * p.share) / count(DISTINCT s.series_id) AS lost_hi_s
        FROM jobs j JOIN job_series u USING (job_id) JOIN series s USING (series_id)
        LEFT JOIN episodes e ON e.series_id = s.series_id AND e.start_time <= least(a.end_time, j.end_time)
                            AND e.end_time >= greatest(a.start_time, j.start_time)
        CROSS JOIN LATERAL (SELECT CASE WHEN e.end_time > e.start_time THEN
            extract(epoch FROM least(e.end_time, j.end_time) - greatest(e.start_time, j.start_time))::double precision
            / extract(epoch FROM e.end_time - e.start_time)::double precision ELSE 1 END AS share) p
        WHERE s.metric = a.metric AND s.part = a.mount
          AND j.start_time <= a.end_time AND (j.end_time IS NULL OR j.end_time >= a.start_time)
        GROUP BY j.job_id
    ) j
) v ON l.series_id IS NOT NULL;

-- The sums that `sum_storage_losses` keeps count if they are of the incident's latest state and either of the latest two minutes or
-- of an hour after its end; others are computed.
CREATE VIEW storage_losses_kept AS
SELECT k.* FROM storage_losses k JOIN storage_incidents a ON a.incident = k.incident AND a.resolved_s IS NOT DISTINCT FROM k.resolved_s
WHERE k.summed_at >= a.end_time + interval '1 hour' OR k.summed_at >= (SELECT now FROM clock) - interval '2 minutes';

CREATE VIEW incidents AS
SELECT 'region' AS about, r.region_id::text AS incident, r.region_id, NULL::text AS mount, r.metric, r.name, r.start_time, r.end_time,
       r.open, r.links_most::bigint AS members, r.kind, r.cause, c.series_or_job AS who, r.confidence, r.completeness, v.lost_s,
       v.lost_lo_s, v.lost_hi_s, 'jobs' AS lost_by
FROM regions r LEFT JOIN region_losses v USING (region_id) LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
UNION ALL
SELECT 'storage', a.incident, NULL, a.mount, a.metric, a.subject, a.start_time, a.end_time, a.open,
       coalesce(l.clients, (a.notice ->> 'members')::bigint), coalesce(l.cause ->> 'kind', 'unknown'), coalesce(l.cause ->> 'cause', 'unknown'),
       nullif(l.cause ->> 'series_or_job', ''), coalesce((l.cause ->> 'share')::double precision, 0),
       coalesce(l.completeness, (a.notice ->> 'completeness')::double precision),
       coalesce(l.lost_s, (a.notice ->> 'slowdown_s')::double precision),
       coalesce(l.lost_lo_s, (a.notice ->> 'slowdown_lo_s')::double precision),
       coalesce(l.lost_hi_s, (a.notice ->> 'slowdown_hi_s')::double precision), l.lost_by
FROM storage_incidents a LEFT JOIN storage_losses_kept k USING (incident) CROSS JOIN LATERAL (
    SELECT k.clients, k.cause, k.completeness, k.lost_s, k.lost_lo_s, k.lost_hi_s, k.lost_by WHERE k.incident IS NOT NULL
    UNION ALL
    SELECT n.clients, n.cause, n.completeness, n.lost_s, n.lost_lo_s, n.lost_hi_s, n.lost_by FROM storage_losses_computed n
    WHERE k.incident IS NULL AND n.incident = a.incident
) l;

-- Sums up the incidents of file systems that are not kept for good, the latest 20 that are due: a call takes seconds where many jobs ran.
CREATE FUNCTION sum_storage_losses() RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    WITH due AS MATERIALIZED (
        SELECT a.incident FROM storage_incidents a
        WHERE NOT EXISTS (SELECT FROM storage_losses k WHERE k.incident = a.incident AND k.resolved_s IS NOT DISTINCT FROM a.resolved_s
                          AND k.summed_at >= a.end_time + interval '1 hour')
        ORDER BY a.start_time DESC LIMIT 20
    )
    INSERT INTO storage_losses
    SELECT n.incident, n.resolved_s, c.now, n.clients, n.cause, n.completeness, n.lost_s, n.lost_lo_s, n.lost_hi_s, n.lost_by
    FROM due d JOIN storage_losses_computed n USING (incident) CROSS JOIN clock c WHERE c.now IS NOT NULL
    ON CONFLICT (incident) DO UPDATE SET resolved_s = excluded.resolved_s, summed_at = excluded.summed_at, clients = excluded.clients,
        cause = excluded.cause, completeness = excluded.completeness, lost_s = excluded.lost_s, lost_lo_s = excluded.lost_lo_s,
        lost_hi_s = excluded.lost_hi_s, lost_by = excluded.lost_by
$$;
