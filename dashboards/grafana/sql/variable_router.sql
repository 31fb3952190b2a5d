SELECT component FROM component_places WHERE metric = ${metric:sqlstring} AND group_name = ${group:sqlstring} ORDER BY 1 LIMIT 1000
