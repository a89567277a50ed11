-- Pass through: what the system costs by itself.
SELECT auction, bidder, price, date_time, extra FROM bid
