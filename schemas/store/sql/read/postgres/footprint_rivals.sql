-- Jobs that the job $1 lost time to, and jobs that lost time to it, the largest shares first.
SELECT j.job_id, j.user_name, j.name, r.role, r.share FROM (
    SELECT c.series_or_job AS job_id, 'source' AS role, sum(c.share) AS share FROM job_causes c
    WHERE c.job_id = $1::text AND c.series_or_job <> $1::text GROUP BY 1
    UNION ALL
    SELECT c.job_id, 'affected', sum(c.share) FROM job_causes c WHERE c.series_or_job = $1::text AND c.job_id <> $1::text GROUP BY 1
) r JOIN jobs j USING (job_id) ORDER BY r.share DESC, j.job_id COLLATE "C", r.role LIMIT $2::bigint
