/** The tables of the Postgres store as the first migration step creates them; `$schema` is the quoted name of the schema. */
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { firstWaitSqls, IS_FREE } from '../../shared/tables/external-events.ts'
import {
  CLAIM_CLASS,
  CLAIM_KEY,
  FAIRNESS_KEY,
  HELD,
  LEVEL,
  NEW_AND_READY,
  UNOWNED,
} from './claim-key-sql.ts'
import { TOTALS_SCHEMA } from './totals-schema.ts'

const FIRST_WAITS = firstWaitSqls('waits.run, waits.review_id', 'present')

/** The time at which the status of a run changed, or `review_since`. */
export const CHANGED_AT = 'greatest(coalesce(completed_at, started_at, created_at), review_since)'

/**
 * Instants of the engine and amounts are `double precision`, like JavaScript numbers. Texts that can be long come last in
 * `runs`, or are in separate tables, because the row of a run is read often.
 *
 * A right on a table does not include its sequences, so the columns with numbers are identity columns, which need none.
 */
export const INITIAL_SCHEMA = `
  CREATE TABLE $schema.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text NOT NULL UNIQUE,
    ensemble text NOT NULL,
    workflow text NOT NULL,
    status text NOT NULL DEFAULT 'ACCEPTED',
    task_count integer NOT NULL,
    completed_tasks integer NOT NULL DEFAULT 0,
    created_at double precision NOT NULL,
    -- The time before which the run does not start, and by which it must have begun.
    start_at double precision,
    start_by double precision,
    started_at double precision,
    completed_at double precision,
    duration_ms double precision,
    ended_at timestamptz,
    -- The time at which the first of the open reviews that a caller can decide opened.
    review_since double precision,
    epoch integer NOT NULL DEFAULT 0,
    last_seq integer NOT NULL DEFAULT 0,
    next_step integer NOT NULL DEFAULT 0,
    write_no integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'owned', 'parked', 'ended')),
    owner text,
    -- The time since which a ready run waits, or at which a parked run becomes due; NULL means never.
    due_at timestamptz DEFAULT clock_timestamp(),
    claimed_at timestamptz,
    -- Position among the runs of its queue that were never claimed; see \`turn-sql.ts\`. 0 for all other runs.
    turn bigint NOT NULL DEFAULT 0,
    lost_owners integer NOT NULL DEFAULT 0,
    -- True while the owner of a run only waits for a person.
    waiting boolean NOT NULL DEFAULT false,
    -- The fencing token: random, and replaced by each claim and by each write to an unowned run.
    token uuid NOT NULL DEFAULT gen_random_uuid(),
    slot bigint,
    -- Number of commands that were queued for the run.
    commands integer NOT NULL DEFAULT 0,
    idempotency_key text UNIQUE,
    fingerprint text,
    -- The key under which later requests find the result of a run.
    cache_key text,
    actor text,
    actor_index text,
    -- Summed when the run ends, so that counting many ended runs is fast.
    cost_usd double precision,
    thread_id text,
    build text,
    code text,
    -- True for a run that was submitted to its build.
    fixed boolean,
    -- NULL for the normal priority, and for the fairness key of the actor.
    priority text,
    fairness_key text,
    -- The task whose output is that of the run.
    output_task text,
    -- The run that a run was forked from, as JSON.
    parent text,
    tag_index text[] NOT NULL,
    tags text NOT NULL,
    inputs text NOT NULL,
    request text,
    webhooks text,
    error text
  ) WITH (fillfactor = 70);
  CREATE INDEX runs_by_status ON $schema.runs (status, id);
  -- Finds the newest runs of an ensemble with a status, and so, status by status, those of the ensemble.
  CREATE INDEX runs_by_ensemble_status ON $schema.runs (ensemble, status, id);
  CREATE INDEX runs_by_change ON $schema.runs (ensemble, status, (${CHANGED_AT}), run_id COLLATE "C");
  CREATE INDEX runs_by_upper_id ON $schema.runs (upper(run_id COLLATE "C") COLLATE "C");
  CREATE INDEX runs_by_tag ON $schema.runs USING gin (tag_index);
  CREATE INDEX runs_by_actor ON $schema.runs (actor_index, created_at) WHERE actor_index IS NOT NULL;
  CREATE INDEX runs_cached ON $schema.runs (cache_key, id) WHERE cache_key IS NOT NULL;
  CREATE INDEX runs_unended ON $schema.runs (state, due_at) WHERE state <> 'ended';
  CREATE INDEX runs_ended ON $schema.runs (ended_at, id) WHERE state = 'ended';
  -- Without the state, so that a condition on the owner cannot use the index of unfinished runs: a plan that was made
  -- while few runs were owned reads all of them there.
  CREATE INDEX runs_by_owner ON $schema.runs (owner) WHERE owner IS NOT NULL;
  -- Runs that were claimed before come before those that were not.
  CREATE INDEX runs_by_turn ON $schema.runs (${CLAIM_KEY}, ${CLAIM_CLASS}, turn, due_at, id) WHERE ${UNOWNED};
  CREATE INDEX runs_by_fairness_key ON $schema.runs (${CLAIM_KEY}, ${LEVEL}, ${FAIRNESS_KEY}, turn)
    WHERE ${NEW_AND_READY};
  CREATE INDEX runs_to_expire ON $schema.runs (start_by)
    WHERE start_by IS NOT NULL AND started_at IS NULL AND state IN ('ready', 'parked');
  CREATE INDEX runs_waiting_for_build ON $schema.runs (${CLAIM_KEY}) WHERE ${HELD};

  -- The text in which runs are searched, and its grams, NULL for a text that is too long; see \`grams.ts\`.
  CREATE TABLE $schema.run_texts (
    run bigint PRIMARY KEY REFERENCES $schema.runs (id) ON DELETE CASCADE,
    text text NOT NULL,
    grams int2[]
  );
  CREATE INDEX run_texts_by_gram ON $schema.run_texts USING gin (grams);
  CREATE INDEX run_texts_not_indexed ON $schema.run_texts (run) WHERE grams IS NULL;

  CREATE TABLE $schema.tasks (
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    task_index integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    agent_role text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    started_at double precision,
    completed_at double precision,
    duration_ms double precision,
    input_tokens double precision NOT NULL,
    output_tokens double precision NOT NULL,
    tool_call_count double precision NOT NULL,
    cost_usd double precision,
    earlier_input_tokens double precision NOT NULL,
    earlier_output_tokens double precision NOT NULL,
    earlier_tool_call_count double precision NOT NULL,
    earlier_cost_usd double precision,
    finish_reason text,
    output text,
    error text,
    PRIMARY KEY (run, task_index)
  );

  -- \`bytes\` is the approximate size with the values of other events that the data refers to; NULL for data without
  -- references. Without a foreign key, an event is stored without a look at its run, which the statement has locked.
  CREATE TABLE $schema.events (
    run bigint NOT NULL,
    seq integer NOT NULL,
    bytes integer,
    type text NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (run, seq)
  );
  CREATE TABLE $schema.steps (
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    n integer NOT NULL,
    -- Sequence number of the step's event.
    seq integer NOT NULL,
    bytes integer,
    data text NOT NULL,
    PRIMARY KEY (run, n)
  );
  -- Runs whose events are still to be deleted.
  CREATE TABLE $schema.deleted_runs (
    run bigint PRIMARY KEY,
    last_seq integer NOT NULL
  );
  -- Steps are retained after the end of their run: end and id of the last run whose steps are deleted.
  CREATE TABLE $schema.trimmed_steps (ended_at timestamptz NOT NULL, run bigint NOT NULL);
  INSERT INTO $schema.trimmed_steps VALUES ('-infinity', 0);

  -- The channels to notify: of the processes that follow a run, or every run (0). A process writes its rows again when it
  -- polls, so they need not survive a crash.
  CREATE UNLOGGED TABLE $schema.followers (
    run bigint NOT NULL,
    channel text NOT NULL,
    PRIMARY KEY (run, channel)
  );
  CREATE INDEX followers_by_channel ON $schema.followers (channel);

  -- Commands for owned runs. The answer is sent to the channel of the sender.
  CREATE TABLE $schema.commands (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    command_id text NOT NULL UNIQUE,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    reply_channel text NOT NULL,
    command text NOT NULL,
    answer text
  );
  CREATE INDEX commands_by_run ON $schema.commands (run, id);

  CREATE TABLE $schema.reviews (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    review_id text NOT NULL,
    status text NOT NULL,
    -- Finds the reviews that people decide without a look at the others.
    kind text NOT NULL,
    opened_at double precision NOT NULL,
    expires_at double precision,
    decided_by text,
    -- The external event that decided it.
    event_id text,
    -- The addresses of the external events that decide it, as JSON.
    waits_for text,
    request text NOT NULL,
    UNIQUE (run, review_id)
  );
  CREATE INDEX reviews_by_review_id ON $schema.reviews (review_id);
  CREATE INDEX reviews_open ON $schema.reviews (kind, id) WHERE status = 'OPEN';
  -- The expression excludes the index of open reviews, which has those of all runs.
  CREATE FUNCTION $schema.set_review_since() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.runs SET review_since = (
      SELECT min(opened_at) FROM $schema.reviews WHERE run = NEW.run AND coalesce(status, '') = 'OPEN' AND kind <> 'EVENT')
    WHERE id = NEW.run;
    RETURN NULL;
  END $$;
  CREATE TRIGGER reviews_open AFTER INSERT ON $schema.reviews FOR EACH ROW
    WHEN (NEW.status = 'OPEN' AND NEW.kind <> 'EVENT') EXECUTE FUNCTION $schema.set_review_since();
  CREATE TRIGGER reviews_changed AFTER UPDATE OF status ON $schema.reviews FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NEW.kind <> 'EVENT')
    EXECUTE FUNCTION $schema.set_review_since();

  -- The notifications for webhooks.
  CREATE TABLE $schema.deliveries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    webhook text NOT NULL,
    due_at timestamptz DEFAULT clock_timestamp(),
    attempt integer NOT NULL DEFAULT 0,
    outcome text CHECK (outcome IN ('done', 'given_up')),
    reason text
  );
  CREATE INDEX deliveries_by_run ON $schema.deliveries (run, seq);
  CREATE INDEX deliveries_due ON $schema.deliveries (due_at, id) WHERE due_at IS NOT NULL;

  CREATE TABLE $schema.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text,
    actor text NOT NULL,
    action text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX audit_by_run ON $schema.audit (run_id, id) WHERE run_id IS NOT NULL;
  CREATE INDEX audit_by_actor ON $schema.audit (actor, id);
  CREATE INDEX audit_by_action ON $schema.audit (action, id);

  -- Random secrets by name, such as the one that signs tickets.
  CREATE TABLE $schema.secrets (
    name text PRIMARY KEY,
    value text NOT NULL
  );

  -- Memories of tasks by scope, and reflections by the hash of the task's description.
  CREATE TABLE $schema.memories (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX memories_by_scope ON $schema.memories (scope, id);
  CREATE TABLE $schema.reflections (
    key text PRIMARY KEY,
    data text NOT NULL
  );

  -- The lease of a process, for all of its runs. The last three columns say which runs it can take on; without an index
  -- on them, updates stay HOT.
  CREATE TABLE $schema.leases (
    owner text PRIMARY KEY,
    expires_at timestamptz NOT NULL,
    free boolean NOT NULL DEFAULT false,
    ensembles text[],
    build text
  ) WITH (fillfactor = 50);

  -- The limit of running runs; see \`slots.ts\`.
  CREATE TABLE $schema.slots (
    n bigint PRIMARY KEY,
    run bigint
  ) WITH (fillfactor = 50);
  CREATE INDEX slots_free ON $schema.slots (n) WHERE run IS NULL;
  CREATE FUNCTION $schema.free_slot() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.slots SET run = NULL WHERE n = OLD.slot;
    NEW.slot := NULL;
    RETURN NEW;
  END $$;
  CREATE TRIGGER runs_free_slot BEFORE UPDATE ON $schema.runs FOR EACH ROW
    WHEN (OLD.slot IS NOT NULL AND (NEW.state <> 'owned' OR NEW.waiting))
    EXECUTE FUNCTION $schema.free_slot();

  -- Offers that have not reached the engine that dispatches runs; see \`offer-outbox.ts\`. \`offering\` has one row while an
  -- engine is in use: it says until when runs are offered.
  CREATE TABLE $schema.offering (
    id integer PRIMARY KEY,
    until timestamptz NOT NULL
  );
  CREATE TABLE $schema.offers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs ON DELETE CASCADE,
    due_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    -- Identifies an offer, with its id. It never recurs, even when a failover loses the newest changes.
    token uuid NOT NULL DEFAULT gen_random_uuid()
  );
  CREATE INDEX offers_of_run ON $schema.offers (run);
  CREATE FUNCTION $schema.offer_run() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO $schema.offers (run) SELECT NEW.id
    WHERE EXISTS (SELECT FROM $schema.offering WHERE until > statement_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER runs_offer AFTER INSERT OR UPDATE OF state ON $schema.runs FOR EACH ROW
    WHEN (NEW.state = 'ready' AND NEW.lost_owners < ${SUSPECT_LOSSES}) EXECUTE FUNCTION $schema.offer_run();

  -- The greatest \`place\` is that of the thread with the newest submission.
  CREATE TABLE $schema.threads (
    place bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    thread_id text PRIMARY KEY,
    title text,
    tags text NOT NULL,
    tag_index text[] NOT NULL,
    actor text,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX threads_by_tag ON $schema.threads USING gin (tag_index);
  CREATE TABLE $schema.thread_runs (
    thread_id text NOT NULL REFERENCES $schema.threads,
    n integer NOT NULL,
    run bigint NOT NULL UNIQUE REFERENCES $schema.runs ON DELETE CASCADE,
    user_message text NOT NULL,
    PRIMARY KEY (thread_id, n)
  );

  -- The codes of ensembles by build, and their manifests.
  CREATE TABLE $schema.builds (
    build text NOT NULL,
    ensemble text NOT NULL,
    code text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    first_started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (build, ensemble, code)
  );
  CREATE TABLE $schema.manifests (
    code text PRIMARY KEY,
    data text NOT NULL
  );
  -- Share of new runs of each build. \`given\` is the share with which a process of the build started last.
  CREATE TABLE $schema.build_shares (
    build text PRIMARY KEY,
    share integer NOT NULL,
    given integer NOT NULL
  );

  -- External events that a review waits for, while it is open. The triggers of reviews write them; see \`external-events.ts\`.
  CREATE TABLE $schema.waits (
    n bigint GENERATED ALWAYS AS IDENTITY,
    run bigint NOT NULL,
    review_id text NOT NULL,
    address text NOT NULL,
    expires_at double precision,
    PRIMARY KEY (run, review_id, address),
    FOREIGN KEY (run, review_id) REFERENCES $schema.reviews (run, review_id) ON DELETE CASCADE
  );
  CREATE INDEX waits_by_address ON $schema.waits (address, n);
  -- An event without an outcome is free, or assigned to the review that has its \`run\` and \`review_id\`.
  CREATE TABLE $schema.external_events (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id text NOT NULL UNIQUE,
    address text NOT NULL,
    digest text NOT NULL,
    -- The only run that it is for.
    wanted_run bigint REFERENCES $schema.runs (id) ON DELETE CASCADE,
    run bigint REFERENCES $schema.runs (id) ON DELETE SET NULL,
    review_id text,
    outcome text CHECK (outcome IN ('delivered', 'refused')),
    received_at timestamptz NOT NULL,
    name text NOT NULL,
    key text,
    sender text,
    reason text,
    data text NOT NULL
  );
  CREATE INDEX external_events_free ON $schema.external_events (address, n)
    WHERE outcome IS NULL AND run IS NULL;
  CREATE INDEX external_events_by_sender ON $schema.external_events (sender)
    WHERE outcome IS NULL AND run IS NULL;
  CREATE UNIQUE INDEX external_events_assigned ON $schema.external_events (run, review_id)
    WHERE outcome IS NULL AND run IS NOT NULL;
  CREATE INDEX external_events_by_run ON $schema.external_events (run) WHERE run IS NOT NULL;
  CREATE INDEX external_events_wanted ON $schema.external_events (wanted_run) WHERE wanted_run IS NOT NULL;
  CREATE INDEX external_events_by_age ON $schema.external_events (received_at);
  CREATE FUNCTION $schema.open_waits() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO $schema.waits (run, review_id, address, expires_at)
    SELECT DISTINCT NEW.run, NEW.review_id, address, NEW.expires_at
    FROM json_array_elements_text(NEW.waits_for::json) AS address;
    RETURN NULL;
  END $$;
  CREATE TRIGGER reviews_open_waits AFTER INSERT ON $schema.reviews FOR EACH ROW
    WHEN (NEW.waits_for IS NOT NULL AND NEW.status = 'OPEN') EXECUTE FUNCTION $schema.open_waits();
  CREATE FUNCTION $schema.close_waits() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM $schema.waits WHERE run = NEW.run AND review_id = NEW.review_id;
    UPDATE $schema.external_events SET outcome = 'delivered'
    WHERE run = NEW.run AND review_id = NEW.review_id AND outcome IS NULL AND event_id = NEW.event_id;
    UPDATE $schema.external_events SET run = NULL, review_id = NULL
    WHERE run = NEW.run AND review_id = NEW.review_id AND outcome IS NULL;
    RETURN NULL;
  END $$;
  CREATE TRIGGER reviews_close_waits AFTER UPDATE OF status ON $schema.reviews FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NEW.waits_for IS NOT NULL)
    EXECUTE FUNCTION $schema.close_waits();
  -- Pairs events and waits one by one, alone, so that each has at most one of the other.
  CREATE FUNCTION $schema.assign_external_events(
    wanted text[], present double precision, lock_class integer, lock_key integer
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    pair record;
  BEGIN
    PERFORM pg_advisory_xact_lock(lock_class, lock_key);
    LOOP
      SELECT external_events.n, first.run, first.review_id INTO pair FROM $schema.external_events
      CROSS JOIN LATERAL (${FIRST_WAITS.map((sql) => `(${sql})`).join(' UNION ALL ')}) AS first
      WHERE ${IS_FREE} AND (wanted IS NULL OR external_events.address = ANY (wanted))
      ORDER BY external_events.n LIMIT 1;
      EXIT WHEN NOT FOUND;
      UPDATE $schema.external_events SET run = pair.run, review_id = pair.review_id WHERE n = pair.n;
    END LOOP;
  END $$;
  ${TOTALS_SCHEMA}
  -- Schedules; see \`schedule-store.ts\`. \`due_at\` is the time of the next tick with jitter, or the end of its claim.
  CREATE TABLE $schema.schedules (
    name text COLLATE "C" PRIMARY KEY,
    revision integer NOT NULL DEFAULT 1,
    source text NOT NULL,
    state text NOT NULL,
    actor text,
    created_at double precision NOT NULL,
    changed_at double precision NOT NULL,
    next_tick double precision,
    due_at double precision,
    queued text NOT NULL,
    last_run text,
    problem text,
    data text NOT NULL
  );
  CREATE INDEX schedules_due ON $schema.schedules (due_at, name) WHERE due_at IS NOT NULL;`
