-- Traffic sources and affected jobs of the region.
SELECT 'load' AS part, c.series_or_job AS job, c.cause, c.share, NULL::double precision AS lost_s, c.confidence,
       (SELECT string_agg(e.word, ', ') FROM jsonb_array_elements_text(c.evidence) AS e (word)) AS evidence
FROM region_causes c WHERE c.region_id::text = ${region:sqlstring}
UNION ALL
SELECT 'waits', v.job_id, NULL, v.share, v.lost_s, NULL, NULL FROM region_victims v WHERE v.region_id::text = ${region:sqlstring}
ORDER BY 1, 4 DESC, 2
