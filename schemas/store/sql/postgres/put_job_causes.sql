INSERT INTO job_causes (job_id, position, cause, kind, series_or_job, share)
SELECT c.job_id, c.position, c.cause, c.kind, c.series_or_job, c.share
FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::double precision[])
    AS c (job_id, position, cause, kind, series_or_job, share)
ON CONFLICT (job_id, position) DO UPDATE SET
    cause = excluded.cause, kind = excluded.kind, series_or_job = excluded.series_or_job, share = excluded.share
