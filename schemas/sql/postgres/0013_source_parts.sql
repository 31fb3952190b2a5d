-- A node may have several sources of one schema, such as two file systems or two ports: each is known by its part.
-- A site file expects that at least one of them reports.
ALTER TABLE producers ADD COLUMN part text NOT NULL DEFAULT ''; -- mount or port; '' for rows about several at once
ALTER TABLE silences ADD COLUMN part text NOT NULL DEFAULT '';

-- Where a component has one part alone, that is what was meant.
UPDATE producers p SET part = o.part
FROM (SELECT component, metric = 'lustre_write_rate' AS lustre, min(part) AS part FROM series
      WHERE part IS NOT NULL AND metric <> 'aries_stall_ratio' GROUP BY 1, 2 HAVING count(*) = 1) o
WHERE o.component = p.component AND o.lustre = (p.schema LIKE 'lustre%');
UPDATE silences p SET part = o.part
FROM (SELECT component, metric = 'lustre_write_rate' AS lustre, min(part) AS part FROM series
      WHERE part IS NOT NULL AND metric <> 'aries_stall_ratio' GROUP BY 1, 2 HAVING count(*) = 1) o
WHERE o.component = p.component AND o.lustre = (p.schema LIKE 'lustre%');
-- What several parts wrote over each other is told anew by their next rows, and nobody would end its silences.
DELETE FROM producers WHERE part = '' AND schema IN ('lustre_client', 'ibmad', 'ibmad_records', 'ibnet');
DELETE FROM silences WHERE part = '' AND until_time IS NULL
    AND schema IN ('lustre_client', 'ibmad', 'ibmad_records', 'ibnet');

ALTER TABLE producers DROP CONSTRAINT producers_pkey, ADD PRIMARY KEY (producer, schema, component, part);
ALTER TABLE silences DROP CONSTRAINT silences_pkey, ADD PRIMARY KEY (producer, schema, component, part, from_time);

-- A row for each part that was heard, and for each expected source that was not. Without a site file whoever reported
-- once is expected. A part that is silent while others of its source report is `absent`, as an unmounted file system is.
-- One that was absent for a week, or silent so long and not in the site file, counts as taken out of service.
CREATE OR REPLACE VIEW sources AS
SELECT o.producer, o.schema, o.component, o.in_site_file, o.event_driven, o.last_time, o.silent_since,
       CASE WHEN o.last_time IS NULL THEN 'never heard'
            WHEN o.silent_since IS NULL THEN 'reports'
            WHEN o.silent_since < (SELECT max(last_time) FROM producers) - interval '7 days'
                 AND (o.others_report OR NOT o.in_site_file) THEN 'gone'
            WHEN o.others_report THEN 'absent'
            ELSE 'silent' END AS state,
       o.part
FROM (
    SELECT producer, schema, component, coalesce(p.part, '') AS part, e.copies IS NOT NULL AS in_site_file,
           coalesce(e.event_driven, false) AS event_driven, p.last_time, s.from_time AS silent_since,
           bool_or(p.last_time IS NOT NULL AND s.from_time IS NULL) OVER (PARTITION BY producer, schema, component)
               AS others_report
    FROM expected_sources e
    FULL JOIN producers p USING (producer, schema, component)
    LEFT JOIN (SELECT producer, schema, component, part, max(from_time) AS from_time FROM silences
               WHERE until_time IS NULL GROUP BY 1, 2, 3, 4) s
           USING (producer, schema, component, part)
) o;

-- Share of the data that is there between two times, 0 to 1: of every producer (`node`), of what is reported about
-- (`component`: missing is what all its producers of a schema missed at once), of Aries groups and of the system.
-- A source misses what all its parts missed at once. Completeness of jobs stands in `job_results`.
CREATE OR REPLACE FUNCTION completeness(since timestamptz, until timestamptz)
    RETURNS TABLE (kind text, name text, sources bigint, silent_now bigint, completeness double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH span AS (
        SELECT tstzrange(since, until) AS range, extract(epoch FROM until - since)::double precision AS seconds
    ), stretches AS (
        SELECT s.producer, s.schema, s.component, s.part,
               range_agg(span.range * tstzrange(s.from_time, greatest(s.from_time, coalesce(s.until_time, 'infinity')))) AS missing
        FROM silences s, span
        WHERE s.from_time < until AND coalesce(s.until_time, 'infinity') > since
        GROUP BY 1, 2, 3, 4
    ), each_source AS (
        SELECT o.producer, o.schema, o.component, bool_and(o.state IN ('silent', 'never heard')) AS is_silent,
               range_intersect_agg(CASE WHEN o.state = 'never heard' THEN tstzmultirange(span.range)
                                        ELSE coalesce(m.missing, '{}'::tstzmultirange) END) AS missing
        FROM sources o CROSS JOIN span LEFT JOIN stretches m USING (producer, schema, component, part)
        WHERE o.state <> 'gone' AND NOT o.event_driven GROUP BY 1, 2, 3
    ), of_schema AS (
        SELECT component, schema, count(*) AS sources, count(*) FILTER (WHERE is_silent) AS silent_now,
               seconds_of(range_intersect_agg(missing)) AS missing_s
        FROM each_source GROUP BY 1, 2
    ), of_component AS (
        SELECT component, sum(sources)::bigint AS sources, sum(silent_now)::bigint AS silent_now,
               avg(1 - missing_s / span.seconds) AS completeness
        FROM of_schema, span GROUP BY 1
    )
    SELECT 'node', producer, count(*), count(*) FILTER (WHERE is_silent), avg(1 - seconds_of(missing) / span.seconds)
    FROM each_source, span GROUP BY producer
    UNION ALL
    SELECT 'component', component, sources, silent_now, completeness FROM of_component
    UNION ALL
    SELECT 'group', aries_group(component), sum(sources)::bigint, sum(silent_now)::bigint, avg(completeness)
    FROM of_component WHERE aries_group(component) IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'system', '', sum(sources)::bigint, sum(silent_now)::bigint, avg(completeness) FROM of_component
    HAVING count(*) > 0
$$;
