INSERT INTO region_causes (region_id, position, cause, series_or_job, share, confidence, evidence)
SELECT c.region_id, c.position, c.cause, c.series_or_job, c.share, c.confidence, c.evidence::jsonb
FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::double precision[], $6::double precision[], $7::text[])
    AS c (region_id, position, cause, series_or_job, share, confidence, evidence)
