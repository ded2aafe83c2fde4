/** The totals and the triggers that maintain them; see `totals.ts`. */
export const TOTALS_SCHEMA = `
  CREATE TABLE $schema.totals (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    name text NOT NULL,
    period bigint NOT NULL,
    amount numeric NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX totals_by_name ON $schema.totals (kind, name, period);

  CREATE FUNCTION $schema.add_total(
    added_kind text, added_name text, added_period bigint, added_amount numeric
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.totals SET amount = amount + added_amount WHERE id = (
      SELECT id FROM $schema.totals
      WHERE kind = added_kind AND name = added_name AND period = added_period
      LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO $schema.totals (kind, name, period, amount)
      VALUES (added_kind, added_name, added_period, added_amount);
    END IF;
  END $$;

  CREATE TABLE $schema.parked_totals (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ensemble text NOT NULL,
    build text NOT NULL,
    code text NOT NULL,
    status text NOT NULL,
    amount numeric NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX parked_totals_by_code ON $schema.parked_totals (ensemble, build, code, status);

  CREATE FUNCTION $schema.add_parked(
    of_ensemble text, of_build text, of_code text, of_status text, added_amount numeric
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE $schema.parked_totals SET amount = amount + added_amount WHERE id = (
      SELECT id FROM $schema.parked_totals
      WHERE ensemble = of_ensemble AND build = of_build AND code = of_code AND status = of_status
      LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO $schema.parked_totals (ensemble, build, code, status, amount)
      VALUES (of_ensemble, of_build, of_code, of_status, added_amount);
    END IF;
  END $$;

  CREATE FUNCTION $schema.count_new_runs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM $schema.add_total('active', '', 0, count(*)) FROM added
      WHERE state = 'ready' OR (state = 'owned' AND NOT waiting) HAVING count(*) > 0;
    PERFORM $schema.add_total('unfinished', actor_index, 0, count(*)) FROM added
      WHERE state <> 'ended' AND actor_index IS NOT NULL GROUP BY actor_index;
    PERFORM $schema.add_parked(
        ensemble, coalesce(build, ''), coalesce(code, ''), status, count(*)) FROM added
      WHERE state = 'parked' GROUP BY ensemble, build, code, status;
    RETURN NULL;
  END $$;
  CREATE TRIGGER runs_count_new AFTER INSERT ON $schema.runs REFERENCING NEW TABLE AS added
    EXECUTE FUNCTION $schema.count_new_runs();
  CREATE FUNCTION $schema.count_run() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    active integer :=
      coalesce(NEW.state = 'ready' OR (NEW.state = 'owned' AND NOT NEW.waiting), false)::integer
      - (OLD.state = 'ready' OR (OLD.state = 'owned' AND NOT OLD.waiting))::integer;
    unfinished integer :=
      coalesce(NEW.state <> 'ended', false)::integer - (OLD.state <> 'ended')::integer;
  BEGIN
    IF active <> 0 THEN PERFORM $schema.add_total('active', '', 0, active); END IF;
    IF unfinished <> 0 AND OLD.actor_index IS NOT NULL THEN
      PERFORM $schema.add_total('unfinished', OLD.actor_index, 0, unfinished);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER runs_count_changed AFTER UPDATE OF state, waiting ON $schema.runs FOR EACH ROW
    WHEN ((OLD.state = 'ended') <> (NEW.state = 'ended')
      OR (OLD.state = 'ready' OR (OLD.state = 'owned' AND NOT OLD.waiting))
        <> (NEW.state = 'ready' OR (NEW.state = 'owned' AND NOT NEW.waiting)))
    EXECUTE FUNCTION $schema.count_run();
  CREATE TRIGGER runs_count_deleted AFTER DELETE ON $schema.runs FOR EACH ROW
    WHEN (OLD.state <> 'ended') EXECUTE FUNCTION $schema.count_run();

  CREATE FUNCTION $schema.count_parked() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.state = 'parked' THEN
      PERFORM $schema.add_parked(
        OLD.ensemble, coalesce(OLD.build, ''), coalesce(OLD.code, ''), OLD.status, -1);
    END IF;
    IF NEW.state = 'parked' THEN
      PERFORM $schema.add_parked(
        NEW.ensemble, coalesce(NEW.build, ''), coalesce(NEW.code, ''), NEW.status, 1);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER runs_count_parked AFTER UPDATE OF state, status, build, code ON $schema.runs
    FOR EACH ROW WHEN ((OLD.state = 'parked' OR NEW.state = 'parked')
      AND (OLD.state, OLD.status, OLD.build, OLD.code)
        IS DISTINCT FROM (NEW.state, NEW.status, NEW.build, NEW.code))
    EXECUTE FUNCTION $schema.count_parked();
  CREATE TRIGGER runs_count_deleted_parked AFTER DELETE ON $schema.runs FOR EACH ROW
    WHEN (OLD.state = 'parked') EXECUTE FUNCTION $schema.count_parked();

  CREATE FUNCTION $schema.count_review() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN PERFORM $schema.add_total('reviews', NEW.kind, 0, 1);
    ELSE PERFORM $schema.add_total('reviews', OLD.kind, 0, -1);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER reviews_count_new AFTER INSERT ON $schema.reviews FOR EACH ROW
    WHEN (NEW.status = 'OPEN') EXECUTE FUNCTION $schema.count_review();
  CREATE TRIGGER reviews_count_closed AFTER UPDATE OF status ON $schema.reviews FOR EACH ROW
    WHEN (OLD.status = 'OPEN' AND NEW.status <> 'OPEN') EXECUTE FUNCTION $schema.count_review();
  CREATE TRIGGER reviews_count_deleted AFTER DELETE ON $schema.reviews FOR EACH ROW
    WHEN (OLD.status = 'OPEN') EXECUTE FUNCTION $schema.count_review();

  CREATE FUNCTION $schema.add_cost() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    of_actor text;
    of_period bigint;
    added numeric;
  BEGIN
    SELECT actor_index, floor(created_at / 120000) INTO of_actor, of_period
      FROM $schema.runs WHERE id = NEW.run;
    IF of_actor IS NOT NULL THEN
      added := coalesce(NEW.cost_usd::numeric, 0) + coalesce(NEW.earlier_cost_usd::numeric, 0)
        - coalesce(OLD.cost_usd::numeric, 0) - coalesce(OLD.earlier_cost_usd::numeric, 0);
      PERFORM $schema.add_total('cost', of_actor, of_period, added);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER tasks_add_cost_new AFTER INSERT ON $schema.tasks FOR EACH ROW
    WHEN (NEW.cost_usd <> 0 OR NEW.earlier_cost_usd <> 0) EXECUTE FUNCTION $schema.add_cost();
  CREATE TRIGGER tasks_add_cost AFTER UPDATE OF cost_usd, earlier_cost_usd ON $schema.tasks FOR EACH ROW
    WHEN (NEW.cost_usd IS DISTINCT FROM OLD.cost_usd
      OR NEW.earlier_cost_usd IS DISTINCT FROM OLD.earlier_cost_usd)
    EXECUTE FUNCTION $schema.add_cost();
  CREATE FUNCTION $schema.subtract_cost() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    subtracted numeric;
  BEGIN
    SELECT sum(coalesce(cost_usd::numeric, 0) + coalesce(earlier_cost_usd::numeric, 0))
      INTO subtracted FROM $schema.tasks WHERE run = OLD.id;
    IF subtracted <> 0 THEN
      PERFORM $schema.add_total('cost', OLD.actor_index, floor(OLD.created_at / 120000)::bigint, -subtracted);
    END IF;
    RETURN OLD;
  END $$;
  CREATE TRIGGER runs_subtract_cost BEFORE DELETE ON $schema.runs FOR EACH ROW
    WHEN (OLD.actor_index IS NOT NULL) EXECUTE FUNCTION $schema.subtract_cost();

  `
