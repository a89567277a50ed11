-- The last bid of a person on an auction, of each 10 minutes.
SELECT auction, bidder, price, channel, url, date_time, extra
FROM bid
QUALIFY row_number() OVER (
    PARTITION BY time_bucket(INTERVAL 10 MINUTE, date_time), bidder, auction
    ORDER BY date_time DESC, price DESC, extra
) = 1
