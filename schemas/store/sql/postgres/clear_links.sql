DELETE FROM link_places
