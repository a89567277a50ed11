-- What the outputs of vans.yaml are, in SQL over everything that was reported. `reports` has the reports with
-- `n`, the number by which they arrived; `vans` is the table of vans.

CREATE VIEW speeding AS
SELECT van, "at", speed, driver, depot
FROM reports JOIN vans USING (van)
WHERE speed > 130;

CREATE VIEW averages AS
SELECT time_bucket(INTERVAL '1 minute', "at") AS "at", van, avg(speed) AS average, count(*) AS reports
FROM reports
GROUP BY ALL;

-- A report belongs to the five windows that begin in its minute and in the four minutes before.
CREATE VIEW standing AS
SELECT van, start AS "at", arg_max(lat, r."at") AS lat, arg_max(lon, r."at") AS lon, driver, depot
FROM (
    SELECT *, time_bucket(INTERVAL '1 minute', "at") - INTERVAL '1 minute' * unnest(range(5)) AS start FROM reports
) AS r JOIN vans USING (van)
GROUP BY van, start, driver, depot
HAVING max(speed) = 0 AND floor(epoch(max(r."at"))) - floor(epoch(min(r."at"))) >= 240;

-- Vans fall silent for good, so a silent van is named with the report that arrived last.
CREATE VIEW silent AS
SELECT van, arg_max("at", n) AS last_at, arg_max(lat, n) AS lat, arg_max(lon, n) AS lon, driver, depot
FROM reports JOIN vans USING (van)
GROUP BY van, driver, depot;

CREATE VIEW stolen AS
SELECT van, "at", fuel_before - fuel AS litres, driver, depot
FROM (
    SELECT *, lag(fuel) OVER report AS fuel_before, lag(speed) OVER report AS speed_before
    FROM reports
    WINDOW report AS (PARTITION BY van ORDER BY "at")
) JOIN vans USING (van)
WHERE speed = 0 AND speed_before = 0 AND fuel_before - fuel > 8;

CREATE VIEW nearly_empty AS
SELECT van, "at", lat, lon, speed, fuel
FROM reports
WHERE fuel < 10;
