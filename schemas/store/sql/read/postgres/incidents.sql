-- Incidents that touch the time from $1 to $2 and are open ($3); $4 is the user of an affected job or of one that caused them, or of a job
-- with clients of the file system; $5 a switch of the links, a node of such a switch or a contended client; $6 the cause; $7 the file system.
-- By the column $8: rising where $9 is 1, falling where it is -1, rows without a value last; without a column open ones first, then by the
-- lower end of the loss.
SELECT i.about, i.incident, i.region_id, i.mount, i.metric, i.name, extract(epoch FROM i.start_time)::double precision,
       extract(epoch FROM i.end_time)::double precision, i.open, i.members, i.kind, i.cause, i.who, i.confidence, i.completeness,
       i.lost_s, i.lost_lo_s, i.lost_hi_s, i.lost_by, count(*) OVER ()
FROM (SELECT i.*, CASE $8::text WHEN 'name' THEN i.name WHEN 'kind' THEN i.kind WHEN 'cause' THEN i.cause WHEN 'source' THEN i.who END AS word
      FROM incidents i) i
WHERE ($1::double precision IS NULL OR i.end_time >= to_timestamp($1::double precision))
  AND ($2::double precision IS NULL OR i.start_time <= to_timestamp($2::double precision))
  AND ($3::boolean IS NULL OR i.open = $3::boolean)
  AND ($4::text IS NULL
       OR i.region_id IN (SELECT v.region_id FROM region_victims v JOIN jobs j USING (job_id) WHERE j.user_name = $4::text)
       OR i.region_id IN (SELECT c.region_id FROM region_causes c JOIN jobs j ON j.job_id = c.series_or_job WHERE j.user_name = $4::text)
       OR EXISTS (SELECT FROM jobs j JOIN job_mounts u USING (job_id)
                  WHERE i.region_id IS NULL AND j.user_name = $4::text AND u.mount = i.mount
                    AND j.start_time <= i.end_time AND coalesce(j.end_time, 'infinity') >= i.start_time))
  AND ($5::text IS NULL
       OR i.region_id IN (SELECT r.region_id FROM region_series r WHERE r.series = ANY (ARRAY(
              SELECT s.name FROM series s
              WHERE s.component = $5::text OR s.component IN (SELECT n.switch FROM node_places n WHERE n.node = $5::text))))
       OR EXISTS (SELECT FROM series s JOIN episodes e USING (series_id)
                  WHERE i.region_id IS NULL AND s.component = $5::text AND s.metric = i.metric AND s.part = i.mount
                    AND e.start_time <= i.end_time AND e.end_time >= i.start_time))
  AND ($6::text IS NULL OR i.cause = $6::text) AND ($7::text IS NULL OR i.mount = $7::text)
ORDER BY $9::double precision * CASE $8::text WHEN 'start' THEN extract(epoch FROM i.start_time)::double precision
                 WHEN 'length' THEN extract(epoch FROM i.end_time - i.start_time)::double precision WHEN 'size' THEN i.members
                 WHEN 'lost' THEN i.lost_lo_s END NULLS LAST,
         $9::double precision * CASE $8::text WHEN 'lost' THEN i.lost_s END NULLS LAST,
         CASE WHEN $9::double precision > 0 THEN i.word END COLLATE "C" NULLS LAST,
         CASE WHEN $9::double precision < 0 THEN i.word END COLLATE "C" DESC NULLS LAST,
         i.open DESC, coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC, i.incident COLLATE "C" LIMIT $10::bigint OFFSET $11::bigint
