-- Node-hours that jobs lost to others between $1 and $2, by pair: the loss of a victim is spread evenly over its run. The worst $3 pairs
-- by the lower end; the last columns are the sums over all pairs.
WITH pairs AS (
    SELECT b.victim, b.aggressor, min(b.start_time) AS start_time, max(b.until_time) AS until_time,
           sum(b.lost_s) AS lost_s, sum(b.lost_node_hours) AS hours,
           sum(b.lost_lo_node_hours) AS lo, sum(b.lost_hi_node_hours) AS hi
    FROM blame b WHERE b.start_time < to_timestamp($2::double precision) AND b.until_time > to_timestamp($1::double precision) GROUP BY 1, 2
), within AS (
    SELECT p.victim, p.aggressor, p.lost_s, part, p.hours * part AS hours, p.lo * part AS lo, p.hi * part AS hi
    FROM (SELECT q.*, greatest(0, extract(epoch FROM least(q.until_time, to_timestamp($2::double precision)) - greatest(q.start_time, to_timestamp($1::double precision)))
               / nullif(extract(epoch FROM q.until_time - q.start_time), 0))::double precision AS part FROM pairs q) p WHERE part > 0
)
SELECT w.victim, v.user_name, v.name, w.aggressor, a.user_name, a.name, w.lost_s * w.part, w.hours, w.lo, w.hi,
       count(*) OVER (), sum(w.hours) OVER (), sum(w.lo) OVER (), sum(w.hi) OVER ()
FROM within w JOIN jobs v ON v.job_id = w.victim JOIN jobs a ON a.job_id = w.aggressor
ORDER BY w.lo DESC, w.hours DESC, w.victim COLLATE "C", w.aggressor COLLATE "C" LIMIT $3::bigint
