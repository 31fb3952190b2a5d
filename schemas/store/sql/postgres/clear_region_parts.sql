-- Causes and victims of a region are written again as a whole.
WITH causes AS (DELETE FROM region_causes WHERE region_id = ANY ($1::bigint[]))
DELETE FROM region_victims WHERE region_id = ANY ($1::bigint[])
