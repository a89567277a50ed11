-- The auctions with the most bids in 10 seconds, every 2 seconds.
WITH counts AS (
    SELECT auction, start, count(*) AS num
    FROM (
        SELECT auction, unnest(range(
            time_bucket(INTERVAL 2 SECOND, date_time) - INTERVAL 8 SECOND,
            date_time + INTERVAL 1 MICROSECOND,
            INTERVAL 2 SECOND
        )) AS start
        FROM bid
    )
    GROUP BY auction, start
)
SELECT start, auction, num
FROM counts JOIN (SELECT start, max(num) AS num FROM counts GROUP BY start) USING (start, num)
