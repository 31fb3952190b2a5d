SELECT DISTINCT metric FROM component_places WHERE metric <> 'lustre_write_rate' ORDER BY 1
