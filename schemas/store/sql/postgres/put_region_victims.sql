INSERT INTO region_victims (region_id, job_id, position, lost_s, lost_lo_s, lost_hi_s, share)
SELECT DISTINCT ON (1, 2) v.region_id, v.job_id, v.position, v.lost_s, v.lost_lo_s, v.lost_hi_s, v.share
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::double precision[], $5::double precision[],
            $6::double precision[], $7::double precision[])
    AS v (region_id, job_id, position, lost_s, lost_lo_s, lost_hi_s, share)
ORDER BY 1, 2, 3
