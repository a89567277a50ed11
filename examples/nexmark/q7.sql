-- The highest bids of each 10 seconds.
SELECT auction, bidder, price, date_time, extra
FROM bid JOIN (
    SELECT max(price) AS highest, time_bucket(INTERVAL 10 SECOND, date_time) AS start FROM bid GROUP BY start
) ON price = highest AND date_time BETWEEN start AND start + INTERVAL 10 SECOND
