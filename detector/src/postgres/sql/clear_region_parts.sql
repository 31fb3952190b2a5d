-- Causes and victims of a region are told anew as a whole.
WITH causes AS (DELETE FROM region_causes WHERE region_id = ANY ($1::bigint[]))
DELETE FROM region_victims WHERE region_id = ANY ($1::bigint[])
