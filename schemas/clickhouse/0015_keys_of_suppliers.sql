-- What suppliers of readings are looked up by: letters and figures alone. They are computed when a row is written, for to compute them for
-- all that a tenant has confirmed took most of the time of finding one.

ALTER TABLE readings {{onCluster}}
    ADD COLUMN IF NOT EXISTS tax_key String MATERIALIZED replaceRegexpAll(upperUTF8(tax_id), '[^\\p{L}\\p{N}]', '') AFTER ibans,
    ADD COLUMN IF NOT EXISTS supplier_key String MATERIALIZED replaceRegexpAll(lowerUTF8(supplier), '[^\\p{L}\\p{N}]', '') AFTER tax_key;
