-- One seek per bucket, so that `WHERE series_id = ? AND time BETWEEN ? AND ?` reads only the rows of that series.
CREATE VIEW signals AS
WITH RECURSIVE buckets (bucket) AS (
    SELECT min(bucket) FROM signal_rows
    UNION ALL
    SELECT (SELECT min(r.bucket) FROM signal_rows r WHERE r.bucket > b.bucket)
    FROM buckets b WHERE b.bucket IS NOT NULL
)
SELECT r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s, r.passed_per_s, r.waited_per_s
FROM buckets b CROSS JOIN signal_rows r ON r.bucket = b.bucket;

-- The view may be written like the table under it; the store writes `signal_rows` itself, which is faster.
CREATE TRIGGER signals_insert INSTEAD OF INSERT ON signals BEGIN
    INSERT OR REPLACE INTO signal_rows
    VALUES (CAST(NEW.time / 10.0 AS INTEGER), NEW.series_id, NEW.time, NEW.value, NEW.mean, NEW.baseline, NEW.bound, NEW.state,
            NEW.slowdown_s, NEW.passed_per_s, NEW.waited_per_s);
END;
CREATE TRIGGER signals_delete INSTEAD OF DELETE ON signals BEGIN
    DELETE FROM signal_rows
    WHERE bucket = CAST(OLD.time / 10.0 AS INTEGER) AND series_id = OLD.series_id AND time = OLD.time;
END;

CREATE VIEW clock AS SELECT max(time) AS now FROM series_latest;

-- A series without a row for 5 s is unknown, whatever its last state.
CREATE VIEW series_now AS
SELECT s.series_id, s.name, s.metric, s.component, s.part, l.time, l.value, l.mean, l.baseline, l.bound,
       CASE WHEN l.time < c.now - 5.0 THEN 'unknown' ELSE l.state END AS state, l.slowdown_s
FROM series_latest l JOIN series s USING (series_id) CROSS JOIN clock c;

CREATE VIEW series_episodes AS
SELECT e.id, s.name AS series, s.metric, s.component, s.part, e.start_time, e.end_time, e.open,
       e.end_time - e.start_time AS duration_s, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id);

CREATE VIEW sources AS
SELECT p.producer, p.schema, p.component, p.last_time,
       (SELECT max(s.from_time) FROM silences s
        WHERE (s.producer, s.schema, s.component, s.part) = (p.producer, p.schema, p.component, p.part)
          AND s.until_time IS NULL) AS silent_since,
       p.part
FROM producers p;

-- Answers under the names that they have in PostgreSQL; SQLite has no functions, so the job is a column here:
-- SELECT * FROM job_post_mortem WHERE job_id = '1234'.
CREATE VIEW job_runs AS
SELECT j.job_id, j.start_time, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time
FROM jobs j;

CREATE VIEW job_slowdown AS
SELECT u.job_id, u.user_name, u.name, u.start_time, u.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       u.label, u.end_presumed, u.until_time - u.start_time AS run_s,
       100 * r.slowdown_s / nullif(u.until_time - u.start_time, 0) AS slowdown_percent,
       f.configuration, f.self_s, f.other_s, f.placement, f.beta, f.caveat,
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = u.job_id) AS nodes,
       (SELECT count(*) FROM region_victims v WHERE v.job_id = u.job_id) AS regions,
       r.judged
FROM (SELECT j.*, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time FROM jobs j) u
LEFT JOIN job_results r USING (job_id) LEFT JOIN job_factors f USING (job_id);

-- What each job cost: seconds and node-hours lost, with the ends of the 95% interval. All sums of losses of jobs are sums of
-- these rows. The ends of a sum are the sums of the ends: errors of jobs on one file system or network are not independent,
-- so nothing is gained by adding many. A job whose result is not known has no row.
CREATE VIEW job_costs AS
SELECT c.job_id, c.start_time, c.until_time, c.until_time - c.start_time AS run_s, c.nodes, c.lost_s, c.lost_lo_s, c.lost_hi_s,
       c.lost_s * c.nodes / 3600.0 AS lost_node_hours, c.lost_lo_s * c.nodes / 3600.0 AS lost_lo_node_hours,
       c.lost_hi_s * c.nodes / 3600.0 AS lost_hi_node_hours, c.judged, c.completeness
FROM (
    SELECT j.job_id, j.start_time, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time,
           (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id) AS nodes, r.slowdown_s AS lost_s,
           r.slowdown_lo_s AS lost_lo_s, r.slowdown_hi_s AS lost_hi_s, r.judged, r.completeness
    FROM jobs j JOIN job_results r USING (job_id)
) c;

-- The shares of causes in a job's cost; what has no known cause is `unknown`, so that they sum to 1.
CREATE VIEW job_cost_shares AS
SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c WHERE c.cause <> 'unknown' GROUP BY 1, 2
UNION ALL
SELECT r.job_id, 'unknown',
       max(0.0, 1.0 - coalesce((SELECT sum(c.share) FROM job_causes c WHERE c.job_id = r.job_id AND c.cause <> 'unknown'), 0.0))
FROM job_results r;

-- The name of an Aries router contains its group: two cabinets of a row. CAST reads the number that a text begins with.
CREATE VIEW node_places AS
SELECT node, switch, nullif(group_name, '') AS group_name FROM node_switches
UNION
SELECT c.producer, c.component, printf('c%d-%d..c%d-%d', c.x - c.x % 2, c.y, c.x - c.x % 2 + 1, c.y)
FROM (SELECT p.producer, p.component, CAST(substr(p.component, 2) AS INTEGER) AS x,
             CAST(substr(p.component, instr(p.component, '-') + 1) AS INTEGER) AS y
      FROM producers p
      WHERE p.component <> p.producer AND p.component GLOB 'c[0-9]*-[0-9]*c[0-9]*s[0-9]*') c
WHERE NOT EXISTS (SELECT 1 FROM node_switches n WHERE n.node = c.producer);

-- Episodes of a job's series during its run, and the part of their loss within it: where an episode crosses an edge of
-- the run, by linear interpolation of its profile.
CREATE VIEW job_episodes AS
SELECT w.job_id, w.id, w.series_id, w.from_time, w.until_time, w.open, w.peak, w.baseline,
       w.part * w.slowdown_s AS lost_s, w.part * w.slowdown_lo_s AS lost_lo_s, w.part * w.slowdown_hi_s AS lost_hi_s,
       w.completeness
FROM (
    SELECT r.job_id, e.*, max(e.start_time, r.start_time) AS from_time, min(e.end_time, r.until_time) AS until_time,
           CASE WHEN e.start_time >= r.start_time AND e.end_time <= r.until_time THEN 1.0
                WHEN e.slowdown_s <= 0 THEN 0.0
                ELSE (coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.until_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.until_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)
                      - coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.start_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.start_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)) / e.slowdown_s END AS part
    FROM job_runs r JOIN job_series js USING (job_id) JOIN episodes e USING (series_id)
    WHERE e.start_time < r.until_time AND e.end_time > r.start_time
) w;
