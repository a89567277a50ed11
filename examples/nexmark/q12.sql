-- How often a person bids in 10 seconds of arrival, which the source notes.
SELECT bidder, count(*) AS bids, time_bucket(INTERVAL 10 SECOND, arrived) AS start
FROM bid
GROUP BY bidder, start
