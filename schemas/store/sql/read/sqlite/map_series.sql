-- All series: what each is about, and whether it measures links or clients of file systems.
SELECT s.series_id, s.component, s.part, m.measures = 'link' FROM series s JOIN metrics m USING (metric)
