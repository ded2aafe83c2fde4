/** Steering a run: cancel it, switch its model, tell it something. */
import Type from 'typebox'
import { CancelMode, DirectiveAction, Priority, RunStatus } from '../enums.ts'
import { CLOSED, Count, IsoDuration, NonBlank } from '../scalars.ts'

/** Body of `POST /api/runs/{runId}/cancel`, which may be left out. Ours; the seed's cancel has none. */
export const CancelBody = Type.Object({ mode: Type.Optional(CancelMode) }, CLOSED)
export type CancelBody = Type.Static<typeof CancelBody>

/**
 * Answer to a cancel: it is under way and `CANCELLED` follows when the work has stopped, seed §4.2; a
 * run that had not begun is `CANCELLED` at once, which is ours.
 */
export const CancelAccepted = Type.Object({
  runId: Type.String(),
  status: Type.Enum(['CANCELLING', 'CANCELLED']),
})
export type CancelAccepted = Type.Static<typeof CancelAccepted>

/** Body of `POST /api/runs/cancel`: every run with this tag that has not ended. Ours. */
export const CancelRunsBody = Type.Object(
  {
    /** `key`, or `key:value`. */
    tag: Type.String({ minLength: 1 }),
    mode: Type.Optional(CancelMode),
  },
  CLOSED,
)
export type CancelRunsBody = Type.Static<typeof CancelRunsBody>

/** Answer to `POST /api/runs/cancel`: what became of each run that had the tag and had not ended. Ours. */
export const RunsCancelled = Type.Object({
  runs: Type.Array(Type.Object({ runId: Type.String(), status: RunStatus })),
  total: Count,
})
export type RunsCancelled = Type.Static<typeof RunsCancelled>

/** Of a switch: it names a model or a tier. Both at once are refused by the server. */
export const MODEL_OR_TIER = { anyOf: [{ required: ['model'] }, { required: ['tier'] }] }

/** Body of `POST /api/runs/{runId}/model`. Seed §4.2; `tier` and `taskName` are ours. */
export const SwitchModelBody = Type.Object(
  {
    /** Alias of a model in the catalog; it or `tier` is needed. */
    model: Type.Optional(NonBlank),
    /** Name of a tier of models, PRIMARY or FALLBACK, in place of `model`. */
    tier: Type.Optional(NonBlank),
    /** Name of the one task that switches; the whole run when absent. */
    taskName: Type.Optional(NonBlank),
  },
  { ...CLOSED, ...MODEL_OR_TIER },
)
export type SwitchModelBody = Type.Static<typeof SwitchModelBody>

/** Answer to a model switch; the next model call uses the new one. Seed §4.2. */
export const ModelSwitched = Type.Object({
  runId: Type.String(),
  /** Alias of the model; the name of a tier of which each task has a model of its own. */
  model: Type.String(),
  /** The tier, when one was asked for. Ours. */
  tier: Type.Optional(Type.String()),
  previousModel: Type.Optional(Type.String()),
  status: Type.Enum(['APPLIED', 'NOT_RUNNING']),
})
export type ModelSwitched = Type.Static<typeof ModelSwitched>

/** Body of `POST /api/runs/{runId}/inject`. Seed §4.4; `ttl`, `action` and `value` are the directive message's. */
export const InjectBody = Type.Object(
  {
    /** Text for the agents; it or `action` is needed. */
    content: Type.Optional(NonBlank),
    /** Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`. */
    action: Type.Optional(DirectiveAction),
    /** Needed for an action. */
    value: Type.Optional(NonBlank),
    /** Task name or agent role that is told; every agent of the run when absent. An action takes a task name. */
    target: Type.Optional(NonBlank),
    priority: Type.Optional(Priority),
    /** How long it stays in force; until the run ends when absent. */
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
export type InjectBody = Type.Static<typeof InjectBody>

/** Answer to an injection. Seed §4.4. */
export const InjectAccepted = Type.Object({
  directiveId: Type.String(),
  status: Type.Literal('ACTIVE'),
})
export type InjectAccepted = Type.Static<typeof InjectAccepted>
