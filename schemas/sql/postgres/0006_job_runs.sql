-- What users call a job where that is not its number (1234_7 of an array, 1234+0 of a het job), and whether nobody told
-- of its end: `end_time` is then the latest that fits what else is known. Later runs of a requeued job are jobs of their
-- own, with .r1, .r2, … behind the number.
ALTER TABLE jobs
    ADD COLUMN label text NOT NULL DEFAULT '',
    ADD COLUMN end_presumed boolean NOT NULL DEFAULT false;
CREATE INDEX jobs_by_label ON jobs (label) WHERE label <> '';

-- With the rights of who asks, so that the row policies hold.
CREATE OR REPLACE VIEW job_slowdown WITH (security_invoker = true) AS
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       j.label, j.end_presumed
FROM jobs j LEFT JOIN job_results r USING (job_id);
