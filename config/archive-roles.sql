-- The roles of walletd's archive in PostgreSQL, with only the rights that they need: docs/archive.md lists the rights of each.
-- Run this script once, as an administrator, in a separate database and before walletd has created its tables:
--
--   createdb walletd && psql --set ON_ERROR_STOP=1 --dbname walletd --file config/archive-roles.sql
--
-- Then give both a password (\password walletd, \password walletd_reader): without one, no client can log in as them.

DO $$
BEGIN
  IF to_regclass('public.walletd_rounds') IS NOT NULL THEN
    RAISE EXCEPTION 'this database has an archive in the schema public: leave it as it is, or restore the store to a new one';
  END IF;
END $$;

SELECT current_database() AS db \gset
SELECT 'CREATE ROLE walletd LOGIN' WHERE to_regrole('walletd') IS NULL \gexec
SELECT 'CREATE ROLE walletd_reader LOGIN' WHERE to_regrole('walletd_reader') IS NULL \gexec
ALTER ROLE walletd NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
ALTER ROLE walletd_reader NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;

-- No other user may connect; neither role may create schemas or temporary tables.
REVOKE ALL ON DATABASE :"db" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"db" TO walletd, walletd_reader;

-- Before PostgreSQL 15, all users may create tables in the schema public.
REVOKE ALL ON SCHEMA public FROM PUBLIC;

-- A schema that the administrator owns. walletd owns the tables in it, because only the owner of a table can add and remove
-- the table of a day.
CREATE SCHEMA IF NOT EXISTS walletd;
GRANT USAGE, CREATE ON SCHEMA walletd TO walletd;
GRANT USAGE ON SCHEMA walletd TO walletd_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE walletd IN SCHEMA walletd GRANT SELECT ON TABLES TO walletd_reader;
ALTER ROLE walletd IN DATABASE :"db" SET search_path = walletd;
ALTER ROLE walletd_reader IN DATABASE :"db" SET search_path = walletd;
