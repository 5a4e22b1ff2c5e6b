#!/bin/sh
# Lets the users of Kafka do what they need (docs/security.md#rights): one for each kind of process. ACLS is Apache Kafka's tool, with
# what it needs to reach the cluster as an administrator:
#
#   ACLS='kafka-acls.sh --bootstrap-server kafka:9092 --command-config admin.properties' deploy/rights/kafka.sh
set -eu

# allow USER OPERATIONS topic|group PREFIX...
allow() {
  user=$1 operations=$2 kind=$3
  shift 3
  for prefix; do
    for operation in $operations; do
      $ACLS --add --allow-principal "User:$user" --operation "$operation" "--$kind" "$prefix" --resource-pattern-type prefixed
    done
  done
}

# tallyhouse ingest: mails become records, letters that can't be read are put aside, a message in a wrong partition is sent again.
# Its groups are --group, and one for answers to mails.
allow tallyhouse_worker 'Read Write DescribeConfigs' topic ledger. access. intake. service.
allow tallyhouse_worker Read group tallyhouse

# tallyhouse api: it reads who may see what, and keeps the feedback that agents send.
allow tallyhouse_reader Read topic access. ledger.projects
allow tallyhouse_reader 'Read Write' topic service.

# tallyhouse desk: what the API does, and what people confirm and ask for. Commands of operators that send the like are below.
allow tallyhouse_desk Read topic access. ledger.projects
allow tallyhouse_desk 'Read Write' topic service.
allow tallyhouse_desk Write topic ledger. intake.

# tallyhouse load, which looks whether all topics are there, and programs that produce.
allow tallyhouse_producer 'Write DescribeConfigs' topic ledger. access.
allow tallyhouse_producer Describe topic intake. service.

# The commands of operators: topics, keys, dead-letters, mail, feedback, migrate, verify, rebuild, adopt.
allow tallyhouse_operator 'Create Read Write DescribeConfigs' topic ledger. access. intake. service.
allow tallyhouse_operator Read group tallyhouse
