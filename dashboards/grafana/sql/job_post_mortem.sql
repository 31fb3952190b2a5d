-- Post-mortem of the job, one row a fact.
SELECT fact, resource, from_time, until_time, lost_s, lost_lo_s, lost_hi_s, percent_of_run, share, cause, kind, who, confidence,
       completeness, note
FROM job_post_mortem(${job:sqlstring})
