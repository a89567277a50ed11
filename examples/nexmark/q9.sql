-- The bid that wins each auction: the highest, of equal ones the first.
SELECT a.* EXCLUDE (arrived), b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.extra) = 1
