-- People who opened an auction in the 10 seconds in which they came.
SELECT p.id, p.name, p.start
FROM (SELECT DISTINCT id, name, time_bucket(INTERVAL 10 SECOND, date_time) AS start FROM person) p
JOIN (SELECT DISTINCT seller, time_bucket(INTERVAL 10 SECOND, date_time) AS start FROM auction) a
    ON p.id = a.seller AND p.start = a.start
