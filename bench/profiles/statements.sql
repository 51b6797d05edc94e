CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
INSERT INTO item SELECT i, i % 97, printf('%08x-%d', i * 2654435761 % 4294967296, i), i * 1.37 FROM n;
CREATE INDEX item_name ON item (name);
CREATE TABLE kind AS SELECT kind AS id, count(*) AS items, avg(price) AS price FROM item GROUP BY kind;
SELECT k.id, sum(i.price) FROM item i JOIN kind k ON k.id = i.kind WHERE i.price > k.price GROUP BY k.id ORDER BY 2 DESC LIMIT 5;
SELECT count(*) FROM item WHERE name LIKE '%ab%7';
SELECT substr(name, 1, 2) AS start, count(*), max(length(name)) FROM item GROUP BY start ORDER BY 2 DESC LIMIT 5;
SELECT count(*) FROM item a JOIN item b ON b.name = printf('%08x-%d', (a.id + 1) * 2654435761 % 4294967296, a.id + 1);
UPDATE item SET name = upper(name), price = round(price / 3, 2) WHERE kind < 40;
SELECT kind, group_concat(substr(name, 1, 3)) FROM (SELECT * FROM item ORDER BY price % 13, name LIMIT 20000) GROUP BY kind LIMIT 3;
