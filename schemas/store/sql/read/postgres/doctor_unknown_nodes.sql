-- Nodes of the latest day's jobs of which no row ever came, with how many of these jobs ran there.
SELECT n.node, count(*)
FROM public.job_nodes n JOIN public.jobs j USING (job_id)
WHERE j.start_time > (SELECT max(start_time) FROM public.jobs) - interval '1 day'
  AND n.node NOT IN (SELECT producer FROM public.producers UNION SELECT component FROM public.producers)
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100000
