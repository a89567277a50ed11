-- Linear Road in SQL over the whole of `traffic` and `history`, by the definitions of the paper.
-- Nothing here follows the network: minutes, segments and cars are looked at all at once.

CREATE OR REPLACE TEMP TABLE reports AS
SELECT time, vid, spd, xway, lane, dir, seg, pos, time // 60 + 1 AS m,
  -- a car that was silent for more than a minute is on a new trip
  time - lag(time, 1, -99) OVER own <= 60 AND lag(xway) OVER own = xway AND lag(dir) OVER own = dir AS goes_on,
  lag(seg) OVER own AS oldseg
FROM traffic WHERE type = 0
WINDOW own AS (PARTITION BY vid ORDER BY time);

-- Avgsv, Avgs and Cars: speeds are halves of whole numbers, so twice their sum is exact.
CREATE OR REPLACE TEMP TABLE segments AS
WITH avgsv AS (
  SELECT m, xway, dir, seg, vid, 2 * sum(spd)::BIGINT // count(*) AS twice, 2 * sum(spd)::BIGINT % count(*) AS rest
  FROM reports GROUP BY ALL
)
SELECT m, xway, dir, seg, count(*) AS cars, sum(twice)::BIGINT AS twice, max(rest) AS rest FROM avgsv GROUP BY ALL;

-- Lav(m): the mean of Avgs over the five minutes before m, over those that had cars, rounded down; in fractions.
CREATE OR REPLACE TEMP TABLE lav AS
WITH before AS (
  SELECT s.m + k AS m, xway, dir, seg, k, s.cars, s.twice FROM segments s, range(1, 6) minutes(k)
), fractions AS (
  SELECT m, xway, dir, seg, count(*) AS minutes,
    coalesce(max(cars) FILTER (k = 1), 1)::HUGEINT AS n1, coalesce(max(twice) FILTER (k = 1), 0)::HUGEINT AS s1,
    coalesce(max(cars) FILTER (k = 2), 1)::HUGEINT AS n2, coalesce(max(twice) FILTER (k = 2), 0)::HUGEINT AS s2,
    coalesce(max(cars) FILTER (k = 3), 1)::HUGEINT AS n3, coalesce(max(twice) FILTER (k = 3), 0)::HUGEINT AS s3,
    coalesce(max(cars) FILTER (k = 4), 1)::HUGEINT AS n4, coalesce(max(twice) FILTER (k = 4), 0)::HUGEINT AS s4,
    coalesce(max(cars) FILTER (k = 5), 1)::HUGEINT AS n5, coalesce(max(twice) FILTER (k = 5), 0)::HUGEINT AS s5
  FROM before GROUP BY ALL
)
SELECT m, xway, dir, seg,
  ((s1*n2*n3*n4*n5 + n1*s2*n3*n4*n5 + n1*n2*s3*n4*n5 + n1*n2*n3*s4*n5 + n1*n2*n3*n4*s5)
    // (2 * minutes * n1*n2*n3*n4*n5))::INT AS lav
FROM fractions;

-- Stop: the four latest reports are from one place; it holds until the next report.
CREATE OR REPLACE TEMP TABLE stops AS
SELECT time, vid, xway, lane, dir, seg, pos FROM (
  SELECT *, lag(time, 3) OVER own = time - 90
    AND lag(xway, 1) OVER own = xway AND lag(xway, 2) OVER own = xway AND lag(xway, 3) OVER own = xway
    AND lag(dir, 1) OVER own = dir AND lag(dir, 2) OVER own = dir AND lag(dir, 3) OVER own = dir
    AND lag(lane, 1) OVER own = lane AND lag(lane, 2) OVER own = lane AND lag(lane, 3) OVER own = lane
    AND lag(pos, 1) OVER own = pos AND lag(pos, 2) OVER own = pos AND lag(pos, 3) OVER own = pos AS stop
  FROM reports WINDOW own AS (PARTITION BY vid ORDER BY time)
) WHERE stop AND lane BETWEEN 1 AND 3;

-- Acc_in_Seg: the minutes in which two cars stood at one place of a segment at the same time.
CREATE OR REPLACE TEMP TABLE accidents AS
SELECT DISTINCT unnest(range(since // 60 + 1, until // 60 + 2)) AS m, xway, dir, seg FROM (
  SELECT greatest(a.time, b.time) AS since, least(a.time, b.time) + 29 AS until, a.xway, a.dir, a.seg
  FROM stops a JOIN stops b USING (xway, dir, lane, pos)
  WHERE a.vid < b.vid AND abs(a.time - b.time) < 30
);

-- The nearest accident, of the minute before, in a car's segment or in the next four downstream.
CREATE OR REPLACE TEMP TABLE near AS
SELECT m + 1 AS m, xway, dir, s AS seg, arg_min(a.seg, abs(a.seg - s)) AS accident
FROM accidents a, range(0, 100) miles(s)
WHERE CASE dir WHEN 0 THEN a.seg - s ELSE s - a.seg END BETWEEN 0 AND 4
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE entries AS
SELECT r.time, vid, xway, dir, seg, lane, goes_on, coalesce(lav, 0) AS lav, accident,
  CASE WHEN lane <> 4 AND lav < 40 AND cars > 50 AND accident IS NULL THEN 2 * (cars - 50) ** 2 ELSE 0 END::BIGINT AS toll
FROM reports r
LEFT JOIN lav USING (m, xway, dir, seg)
LEFT JOIN (SELECT m + 1 AS m, xway, dir, seg, cars FROM segments) USING (m, xway, dir, seg)
LEFT JOIN near USING (m, xway, dir, seg)
WHERE NOT goes_on OR seg <> oldseg;

-- What a car was told when it entered is charged when it enters the next segment of its trip.
CREATE OR REPLACE TEMP TABLE charges AS
SELECT time, vid, charged FROM (
  SELECT time, vid, goes_on, lag(toll) OVER (PARTITION BY vid ORDER BY time) AS charged FROM entries
) WHERE goes_on;

CREATE OR REPLACE VIEW right_tolls AS SELECT vid, time, lav, toll FROM entries WHERE lane <> 4;

CREATE OR REPLACE VIEW right_accidents AS
SELECT vid, time, xway, dir, accident AS seg FROM entries WHERE lane <> 4 AND accident IS NOT NULL;

CREATE OR REPLACE VIEW right_balances AS
SELECT q.qid, q.vid, q.time, coalesce(sum(c.charged), 0)::BIGINT AS balance
FROM traffic q LEFT JOIN charges c ON q.vid = c.vid AND c.time < q.time
WHERE q.type = 2 GROUP BY ALL;

CREATE OR REPLACE VIEW right_expenditures AS
SELECT q.qid, q.vid, q.time, coalesce(h.toll, 0) AS expenditure
FROM traffic q LEFT JOIN history h USING (vid, day, xway)
WHERE q.type = 3;
