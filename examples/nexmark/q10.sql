-- Bids with the day and the minute by which a file system would be divided.
SELECT auction, bidder, price, date_time, extra,
    strftime(date_time, '%Y-%m-%d') AS day, strftime(date_time, '%H:%M') AS minute
FROM bid
