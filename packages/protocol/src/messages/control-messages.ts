/**
 * Messages for commands by run, and their acknowledgements. The `command` message sends the same commands by id;
 * see `client-message.ts`.
 */
import Type from 'typebox'
import { CancelMode, Priority } from '../schemas/enums.ts'
import {
  DECISION_RULES,
  ReviewDecisionApplied,
  reviewDecisionFields,
} from '../schemas/rest/reviews.ts'
import { MODEL_OR_TIER } from '../schemas/rest/run-control.ts'
import { CLOSED, IsoDuration, NonBlank, RequestId } from '../schemas/scalars.ts'

import type { Static } from '../static.ts'

/** Decides a review, like `POST /api/reviews/{reviewId}`. */
export const ReviewDecision = Type.Object(
  {
    type: Type.Literal('review_decision'),
    /** Repeated in the reply. */
    requestId: Type.Optional(RequestId),
    /** Id of the review. */
    reviewId: NonBlank,
    ...reviewDecisionFields,
  },
  { ...CLOSED, ...DECISION_RULES },
)
export type ReviewDecision = Static<typeof ReviewDecision>

/** Reply to `review_decision`, with the REST response. */
export const ReviewDecisionAck = Type.Object({
  type: Type.Literal('review_decision_ack'),
  /** Id of the message; absent when it had none. */
  requestId: Type.Optional(Type.String()),
  ...ReviewDecisionApplied.properties,
})
export type ReviewDecisionAck = Static<typeof ReviewDecisionAck>

/** Cancels a run or switches its model. */
export const RunControl = Type.Object(
  {
    type: Type.Literal('run_control'),
    /** Repeated in the acknowledgement. */
    requestId: Type.Optional(RequestId),
    /** Id of the run. */
    runId: NonBlank,
    action: Type.Enum(['cancel', 'switch_model']),
    /** Alias of a model in the catalog; `switch_model` requires either it or `tier`. */
    model: Type.Optional(NonBlank),
    /** Name of a model tier; used instead of `model`. */
    tier: Type.Optional(NonBlank),
    /** `abort` when absent. */
    mode: Type.Optional(CancelMode),
    /** Name of the only task that switches; the whole run when absent. */
    taskName: Type.Optional(NonBlank),
  },
  {
    ...CLOSED,
    if: Type.Object({ action: Type.Literal('switch_model') }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: MODEL_OR_TIER,
  },
)
export type RunControl = Static<typeof RunControl>

/** Reply to `run_control`; subscribers also get it for commands of other clients. */
export const RunControlAck = Type.Object({
  type: Type.Literal('run_control_ack'),
  /** Id of the message; absent when it had none, and on acknowledgements of other callers' commands. */
  requestId: Type.Optional(Type.String()),
  /** Id of the run. */
  runId: Type.String(),
  action: Type.String(),
  status: Type.Enum([
    'CANCELLING',
    'CANCELLED',
    'APPLIED',
    'REJECTED',
    'NOT_FOUND',
    'NOT_RUNNING',
    'INVALID_MODEL',
    'INVALID_ACTION',
    'NOT_CONFIGURED',
  ]),
  /** Alias of the new model. */
  model: Type.Optional(Type.String()),
  /** Alias of the model before. */
  previousModel: Type.Optional(Type.String()),
  /** The tier, when one was requested. */
  tier: Type.Optional(Type.String()),
  /** Readable reason of a rejection. */
  message: Type.Optional(Type.String()),
})
export type RunControlAck = Static<typeof RunControlAck>

/** Sends a directive to running agents, or acts on the ensemble. */
export const DirectiveMessage = Type.Object(
  {
    type: Type.Literal('directive'),
    /** Repeated in the acknowledgement. */
    requestId: Type.Optional(RequestId),
    /** Task name, agent role or ensemble that gets the directive. */
    to: Type.Optional(Type.String()),
    /** Author that the agents see. */
    from: Type.Optional(Type.String()),
    /** Text for the agents. */
    content: Type.Optional(Type.String()),
    /** Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`. */
    action: Type.Optional(Type.String()),
    /** Argument of the action. */
    value: Type.Optional(Type.String()),
    /** Time to live, up to 100 years; until the run ends when absent. */
    ttl: Type.Optional(IsoDuration),
    /** Run that gets the directive; every running one when absent. */
    runId: Type.Optional(NonBlank),
    /** NORMAL when absent. */
    priority: Type.Optional(Priority),
  },
  CLOSED,
)
export type DirectiveMessage = Static<typeof DirectiveMessage>

/** Reply to `directive`; `accepted` is in lower case, unlike other statuses. */
export const DirectiveAck = Type.Object({
  type: Type.Literal('directive_ack'),
  /** Id of the message; absent when it had none. */
  requestId: Type.Optional(Type.String()),
  /** Id of the directive; null when it was rejected. */
  directiveId: Type.Union([Type.String(), Type.Null()]),
  status: Type.Enum(['accepted', 'REJECTED']),
  /** Reason of the rejection. */
  message: Type.Optional(Type.String()),
})
export type DirectiveAck = Static<typeof DirectiveAck>
