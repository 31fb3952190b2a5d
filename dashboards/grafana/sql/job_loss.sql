-- Seconds lost since the start, with the 95% band.
SELECT at_time AS time, lost_lo_s, lost_s, lost_hi_s FROM job_loss_curve(${job:sqlstring}, 200) ORDER BY at_time
