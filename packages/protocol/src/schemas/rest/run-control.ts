/** Commands for a run: cancel it, switch its model, inject a directive. */
import Type from 'typebox'
import { CancelMode, DirectiveAction, Priority, RunStatus } from '../enums.ts'
import { CLOSED, Count, IsoDuration, NonBlank } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Body of `POST /api/runs/{runId}/cancel`; optional. */
export const CancelBody = Type.Object(
  {
    /** `abort` when absent. */
    mode: Type.Optional(CancelMode),
  },
  CLOSED,
)
export type CancelBody = Static<typeof CancelBody>

/**
 * Response to a cancel. CANCELLING: the run is CANCELLED once its work has stopped. CANCELLED: the run had not begun.
 */
export const CancelAccepted = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  status: Type.Enum(['CANCELLING', 'CANCELLED']),
})
export type CancelAccepted = Static<typeof CancelAccepted>

/** Body of `POST /api/runs/cancel`: cancels every run with this tag that has not ended. */
export const CancelRunsBody = Type.Object(
  {
    /** `key`, or `key:value`. */
    tag: Type.String({ minLength: 1 }),
    /** `abort` when absent. */
    mode: Type.Optional(CancelMode),
  },
  CLOSED,
)
export type CancelRunsBody = Static<typeof CancelRunsBody>

/** Response of `POST /api/runs/cancel`: the status of each run that had the tag and had not ended. */
export const RunsCancelled = Type.Object({
  runs: Type.Array(Type.Object({ runId: Type.String(), status: RunStatus })),
  /** Number of runs. */
  total: Count,
})
export type RunsCancelled = Static<typeof RunsCancelled>

/** Requires a model or a tier. The server rejects a request with both. */
export const MODEL_OR_TIER = { anyOf: [{ required: ['model'] }, { required: ['tier'] }] }

/** Body of `POST /api/runs/{runId}/model`. */
export const SwitchModelBody = Type.Object(
  {
    /** Alias of a model in the catalog; either it or `tier` is required. */
    model: Type.Optional(NonBlank),
    /** Name of a model tier, such as PRIMARY or FALLBACK; used instead of `model`. */
    tier: Type.Optional(NonBlank),
    /** Name of the only task that switches; the whole run when absent. */
    taskName: Type.Optional(NonBlank),
  },
  { ...CLOSED, ...MODEL_OR_TIER },
)
export type SwitchModelBody = Static<typeof SwitchModelBody>

/** Response to a model switch; the next model call uses the new model. */
export const ModelSwitched = Type.Object({
  /** Id of the run. */
  runId: Type.String(),
  /** Alias of the model; the name of the tier when each task has its own model of it. */
  model: Type.String(),
  /** The tier, when one was requested. */
  tier: Type.Optional(Type.String()),
  /** Alias of the model before. */
  previousModel: Type.Optional(Type.String()),
  /** Always APPLIED; for a run that is not running, the server responds with the error RUN_NOT_RUNNING. */
  status: Type.Enum(['APPLIED', 'NOT_RUNNING']),
})
export type ModelSwitched = Static<typeof ModelSwitched>

/** Body of `POST /api/runs/{runId}/inject`. */
export const InjectBody = Type.Object(
  {
    /** Text for the agents; either it or `action` is required. */
    content: Type.Optional(NonBlank),
    /** Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`. */
    action: Type.Optional(DirectiveAction),
    /** Argument of the action; required with `action`. */
    value: Type.Optional(NonBlank),
    /**
     * Task name or agent role that gets the directive; all agents of the run when absent. An action takes a task name.
     */
    target: Type.Optional(NonBlank),
    /** NORMAL when absent. */
    priority: Type.Optional(Priority),
    /** Time to live, up to 100 years; until the run ends when absent. */
    ttl: Type.Optional(IsoDuration),
  },
  {
    ...CLOSED,
    if: { required: ['action'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: { required: ['value'] },
    else: { required: ['content'] },
  },
)
export type InjectBody = Static<typeof InjectBody>

/** Response to an injected directive. */
export const InjectAccepted = Type.Object({
  /** Id of the directive. */
  directiveId: Type.String(),
  status: Type.Literal('ACTIVE'),
})
export type InjectAccepted = Static<typeof InjectAccepted>
