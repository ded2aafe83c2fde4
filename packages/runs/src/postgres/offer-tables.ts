/** Offers that have not reached the engine that dispatches runs, while one is in use; see `offer-outbox.ts`. */
import { SUSPECT_LOSSES } from '../execution/suspects.ts'

/** The statements of the migration. `offering` has one row, which says until when runs are offered. */
export const OFFER_TABLES = `
  CREATE TABLE $schema.offering (
    id integer PRIMARY KEY,
    until timestamptz NOT NULL
  );
  CREATE TABLE $schema.offers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES $schema.runs ON DELETE CASCADE,
    due_at timestamptz NOT NULL DEFAULT statement_timestamp()
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
`

/** Identifies an offer, together with its id. Unlike the id, it never recurs, even when a failover loses newest changes. */
export const OFFER_TOKENS = `
  ALTER TABLE $schema.offers ADD COLUMN token uuid NOT NULL DEFAULT gen_random_uuid();
`
