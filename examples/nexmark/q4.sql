-- The average price at which the auctions of a category close, of those that opened on a day.
SELECT day, category, avg(final) AS average
FROM (
    SELECT date_trunc('day', a.date_time) AS day, a.category, max(b.price) AS final
    FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY day, a.category, a.id
)
GROUP BY day, category
