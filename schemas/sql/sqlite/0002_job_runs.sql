-- What users call a job where that is not its number (1234_7 of an array, 1234+0 of a het job), and whether nobody told
-- of its end: `end_time` is then the latest that fits what else is known. Later runs of a requeued job are jobs of their
-- own, with .r1, .r2, … behind the number.
ALTER TABLE jobs ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN end_presumed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_label ON jobs (label) WHERE label <> '';

DROP VIEW job_slowdown;
CREATE VIEW job_slowdown AS
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       j.label, j.end_presumed
FROM jobs j LEFT JOIN job_results r USING (job_id);
