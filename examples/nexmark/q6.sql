-- The average price at which the last 10 auctions of a seller closed, in the order in which they opened.
SELECT seller, id AS auction, avg(final) OVER last_ten AS average
FROM (
    SELECT a.seller, a.id, a.date_time, max(b.price) AS final
    FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY ALL
)
WINDOW last_ten AS (PARTITION BY seller ORDER BY date_time, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)
QUALIFY count(*) OVER last_ten = 10
