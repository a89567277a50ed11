-- How often a person bids in a session, which 10 seconds without a bid end.
SELECT bidder, count(*) AS bids, min(date_time) AS start, max(date_time) + INTERVAL 10 SECOND AS until
FROM (
    SELECT *, count(*) FILTER (WHERE starts) OVER (PARTITION BY bidder ORDER BY date_time) AS session
    FROM (
        SELECT *, date_time >= lag(date_time, 1, '1970-01-01') OVER (PARTITION BY bidder ORDER BY date_time)
            + INTERVAL 10 SECOND AS starts
        FROM bid
    )
)
GROUP BY bidder, session
