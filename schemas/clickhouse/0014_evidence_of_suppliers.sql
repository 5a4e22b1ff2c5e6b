-- What else the next invoice of a supplier that people have confirmed is recognised by. Rows of before have neither.

ALTER TABLE readings {{onCluster}}
    ADD COLUMN IF NOT EXISTS sender_domain String AFTER contractor,      -- for which the mailbox's server vouched; '' when it didn't
    ADD COLUMN IF NOT EXISTS ibans Array(String) AFTER sender_domain;    -- accounts that may be the supplier's
