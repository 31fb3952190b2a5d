-- What finished runs of one configuration teach about the loss of a run; the fit itself is the program's
-- (`detector/src/factors/learnt.rs`), since SQLite has no regression.

CREATE TABLE betas (
    configuration TEXT NOT NULL,
    version       INTEGER NOT NULL,         -- from 1; a new one with every run that changes it
    beta          REAL NOT NULL,            -- seconds of run time that a second of contention costs
    beta_lo       REAL NOT NULL,            -- 95% interval
    beta_hi       REAL NOT NULL,
    clear_s       REAL NOT NULL,            -- run time without contention
    runs          INTEGER NOT NULL,
    learnt_until  REAL NOT NULL,            -- end of the latest of these runs
    PRIMARY KEY (configuration, version)
) STRICT;

-- Runs are compared within one configuration alone: a changed parameter of MPI costs time too (Jha 2017). The signature
-- that the site gives is the best name of it, the job's name the next best.
CREATE VIEW job_configurations AS
SELECT j.job_id, coalesce(nullif(j.app, ''), nullif(j.name, ''), 'unnamed') || ' on ' || n.nodes || ' nodes' AS configuration,
       n.groups
FROM jobs j JOIN (
    SELECT k.job_id, count(m.node) AS nodes, count(DISTINCT p.group_name) AS groups
    FROM jobs k LEFT JOIN job_nodes m USING (job_id) LEFT JOIN node_places p USING (node) GROUP BY k.job_id
) n USING (job_id);

-- Finished runs of which enough was seen to learn from.
CREATE VIEW learnable_runs AS
SELECT j.job_id, c.configuration, c.groups, j.end_time, j.end_time - j.start_time AS run_s, r.slowdown_s
FROM jobs j JOIN job_results r USING (job_id) JOIN job_configurations c USING (job_id)
WHERE j.end_time IS NOT NULL AND NOT j.end_presumed AND j.end_time > j.start_time AND r.completeness >= 0.6;
