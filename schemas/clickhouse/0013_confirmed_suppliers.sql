-- What people have confirmed of a supplier, by which the next invoice of it is recognised. Rows of before have neither.

ALTER TABLE readings {{onCluster}}
    ADD COLUMN IF NOT EXISTS tax_id String AFTER confirmed_by,    -- the supplier's; '' when nothing is certain
    ADD COLUMN IF NOT EXISTS contractor String AFTER tax_id;      -- that a person named; '' when nobody did
