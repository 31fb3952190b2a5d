-- Traffic sources by share, and affected jobs by the lower end of their loss.
SELECT 'load' AS part, c.series_or_job AS job, c.cause, c.share, NULL::double precision AS lost_s, NULL::double precision AS lost_lo_s,
       NULL::double precision AS lost_hi_s, c.confidence,
       (SELECT string_agg(e.word, ', ') FROM jsonb_array_elements_text(c.evidence) AS e (word)) AS evidence
FROM region_causes c WHERE c.region_id::text = ${region:sqlstring}
UNION ALL
SELECT 'waits', v.job_id, NULL, v.share, v.lost_s, v.lost_lo_s, v.lost_hi_s, NULL, NULL
FROM region_victims v WHERE v.region_id::text = ${region:sqlstring}
ORDER BY 1, 6 DESC NULLS LAST, 4 DESC, 2
