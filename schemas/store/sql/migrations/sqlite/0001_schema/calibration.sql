-- Runs are compared within one configuration only: a changed parameter of MPI costs time too (Jha 2017). The signature
-- from the site is the best name of it, the job's name the next best.
CREATE VIEW job_configurations AS
SELECT j.job_id, coalesce(nullif(j.app, ''), nullif(j.name, ''), 'unnamed') || ' on ' || n.nodes || ' nodes' AS configuration,
       n.groups
FROM jobs j JOIN (
    SELECT k.job_id, count(m.node) AS nodes, count(DISTINCT p.group_name) AS groups
    FROM jobs k LEFT JOIN job_nodes m USING (job_id) LEFT JOIN node_places p USING (node) GROUP BY k.job_id
) n USING (job_id);

-- Finished runs with enough data to learn from.
CREATE VIEW learnable_runs AS
SELECT j.job_id, c.configuration, c.groups, j.end_time, j.end_time - j.start_time AS run_s, r.slowdown_s
FROM jobs j JOIN job_results r USING (job_id) JOIN job_configurations c USING (job_id)
WHERE j.end_time IS NOT NULL AND NOT j.end_presumed AND j.end_time > j.start_time AND r.completeness >= 0.6;

-- Of each job the progress that its reports cover best.
CREATE VIEW job_measured AS
SELECT job_id, name, lost_s, lost_lo_s, lost_hi_s, cost, cost_lo, cost_hi FROM (
    SELECT *, row_number() OVER (PARTITION BY job_id ORDER BY covered_s DESC, name) AS place
    FROM job_progress WHERE state = 'measured'
) WHERE place = 1;
