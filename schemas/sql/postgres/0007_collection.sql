-- Who should report, when somebody did not, and what share of the data is there.

-- What the site file says; `tailback run` writes it. Rows that come with events alone are no part of completeness.
CREATE TABLE expected_sources (
    producer     text NOT NULL,
    schema       text NOT NULL,             -- as in `producers`
    component    text NOT NULL,
    copies       smallint NOT NULL,         -- producers of the same counters, this one counted
    event_driven boolean NOT NULL,
    PRIMARY KEY (producer, schema, component)
);

-- A row for each stretch of more than two and a half usual intervals without a row of a source.
CREATE TABLE silences (
    producer   text NOT NULL,
    schema     text NOT NULL,
    component  text NOT NULL,
    from_time  timestamptz NOT NULL,        -- its last row before
    until_time timestamptz,                 -- its next row; null while it is silent
    PRIMARY KEY (producer, schema, component, from_time)
);
CREATE INDEX silences_by_time ON silences (from_time);
CREATE INDEX silences_open ON silences (producer) WHERE until_time IS NULL;

-- Every source that was heard or is expected. Without a site file whoever reported once is expected; one that was
-- silent for a week counts as taken out of service.
CREATE VIEW sources AS
SELECT coalesce(e.producer, p.producer) AS producer, coalesce(e.schema, p.schema) AS schema,
       coalesce(e.component, p.component) AS component, e.producer IS NOT NULL AS in_site_file,
       coalesce(e.event_driven, false) AS event_driven, p.last_time, s.from_time AS silent_since,
       CASE WHEN p.last_time IS NULL THEN 'never heard'
            WHEN s.from_time IS NULL THEN 'reports'
            WHEN s.from_time < (SELECT max(last_time) FROM producers) - interval '7 days' AND e.producer IS NULL THEN 'gone'
            ELSE 'silent' END AS state
FROM expected_sources e
FULL JOIN producers p USING (producer, schema, component)
LEFT JOIN (SELECT producer, schema, component, max(from_time) AS from_time FROM silences WHERE until_time IS NULL
           GROUP BY 1, 2, 3) s
       ON (s.producer, s.schema, s.component) = (p.producer, p.schema, p.component);

-- The group of an Aries router or cabinet by its cname: two cabinets of six chassis; null for other names.
CREATE FUNCTION aries_group(component text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT format('c%s-%s..c%s-%s', x - x % 2, m[2], x - x % 2 + 1, m[2])
    FROM regexp_match(component, '^c(\d{1,6})-(\d{1,6})c\d+s\d+') AS m, LATERAL (SELECT m[1]::integer AS x) AS cabinet
    WHERE m IS NOT NULL
$$;

-- Seconds of a multirange.
CREATE FUNCTION seconds_of(stretches tstzmultirange) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0)::double precision FROM unnest(stretches) AS r
$$;

-- Share of the data that is there between two times, 0 to 1: of every producer (`node`), of what is reported about
-- (`component`: missing is what all its producers of a schema missed at once), of Aries groups and of the system.
-- Completeness of jobs stands in `job_results`.
CREATE FUNCTION completeness(since timestamptz, until timestamptz)
    RETURNS TABLE (kind text, name text, sources bigint, silent_now bigint, completeness double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH span AS (
        SELECT tstzrange(since, until) AS range, extract(epoch FROM until - since)::double precision AS seconds
    ), stretches AS (
        SELECT s.producer, s.schema, s.component,
               range_agg(span.range * tstzrange(s.from_time, greatest(s.from_time, coalesce(s.until_time, 'infinity')))) AS missing
        FROM silences s, span
        WHERE s.from_time < until AND coalesce(s.until_time, 'infinity') > since
        GROUP BY 1, 2, 3
    ), each_source AS (
        SELECT o.producer, o.schema, o.component, o.state IN ('silent', 'never heard') AS is_silent,
               CASE WHEN o.state = 'never heard' THEN tstzmultirange(span.range)
                    ELSE coalesce(m.missing, '{}'::tstzmultirange) END AS missing
        FROM sources o CROSS JOIN span LEFT JOIN stretches m USING (producer, schema, component)
        WHERE o.state <> 'gone' AND NOT o.event_driven
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

GRANT SELECT ON expected_sources, silences, sources TO tailback_writer, tailback_reader;
GRANT INSERT, UPDATE, DELETE ON expected_sources, silences TO tailback_writer;
