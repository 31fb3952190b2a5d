SELECT series FROM worst_links($__timeFrom(), $__timeTo(), 200) ORDER BY rank
