-- The ten highest bids on an auction, of each 10 minutes.
SELECT time_bucket(INTERVAL 10 MINUTE, date_time) AS "window", auction, bidder, price, channel, url, date_time, extra,
    row_number() OVER (
        PARTITION BY time_bucket(INTERVAL 10 MINUTE, date_time), auction ORDER BY price DESC, extra
    ) AS rank
FROM bid
QUALIFY rank <= 10
