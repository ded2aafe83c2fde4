/** Commands for a run as they are stored and interpreted; `../commands.ts` lists them. */
import Type from 'typebox'
import { MAX_DURATION_MS } from '../limits.ts'
import { DecidingEvent } from './events/steering-events.ts'
import { CancelCause, CancelMode, Priority } from './enums.ts'

import type { Static } from '../static.ts'

/** Time to live of a directive, in milliseconds. */
const DirectiveTtlMs = Type.Number({ exclusiveMinimum: 0, maximum: MAX_DURATION_MS })

/** A text that can be absent. */
export const optionalText = Type.Optional(Type.String())

/** Content of a directive: text for the agents, or an action. */
export const DirectiveInput = Type.Object({
  /** Text for the agents; either it or `action` is required. */
  content: optionalText,
  /** Action; `value` is its argument. */
  action: optionalText,
  /** Name of a tier with SET_MODEL_TIER, name of a profile with APPLY_PROFILE. */
  value: optionalText,
  /** Name of a task, or role of an agent; every task when absent. */
  to: optionalText,
  /** Author that the agents see. */
  from: optionalText,
  /** Name of the caller's key, for the audit log. */
  actor: optionalText,
  /** NORMAL when absent. */
  priority: Type.Optional(Priority),
  /** Time to live in milliseconds; as long as the run when absent. */
  ttlMs: Type.Optional(DirectiveTtlMs),
  /** Id of the directive; random when absent. */
  id: optionalText,
})
export type DirectiveInput = Static<typeof DirectiveInput>

const verdictFields = {
  /** Identifies the decision: a decision sent again under the same id counts once. */
  id: optionalText,
  /** Name of the reviewer's key, for the audit log. */
  decidedBy: optionalText,
}

const edit = Type.Literal('EDIT')

/** Decision of a review, as a command carries it. */
export const ReviewVerdict = Type.Union([
  Type.Object({ action: Type.Enum(['CONTINUE', 'EXIT_EARLY']), ...verdictFields }),
  Type.Object({ action: Type.Literal('REJECT'), feedback: optionalText, ...verdictFields }),
  /** New description before a task, new output after it. */
  Type.Object({ action: edit, text: Type.String(), ...verdictFields }),
  /** New input of the tool call under review, the answer to a question, or the data of an external event. */
  Type.Object({
    action: edit,
    input: Type.Unknown(),
    event: Type.Optional(DecidingEvent),
    ...verdictFields,
  }),
  /** Either of them as a reviewer typed it; the owner of the run knows which, and parses an input as JSON. */
  Type.Object({ action: edit, revisedOutput: Type.String(), ...verdictFields }),
])
export type ReviewVerdict = Static<typeof ReviewVerdict>

/** Cancels the run; `mode` is `abort` when absent. */
export const CancelCommand = Type.Object({
  kind: Type.Literal('cancel'),
  mode: Type.Optional(CancelMode),
  /** SERVER when absent. */
  cause: Type.Optional(CancelCause),
  actor: optionalText,
})

/** Switches the model of the run, or of one task. */
export const SwitchModelCommand = Type.Object({
  kind: Type.Literal('switch_model'),
  /** Alias of a model in the catalog, or a tier. */
  model: Type.Union([Type.String(), Type.Object({ tier: Type.String() })]),
  /** The only task that switches; the whole run when absent. */
  taskName: optionalText,
  actor: optionalText,
})

/** Injects a directive. */
export const InjectCommand = Type.Object({
  kind: Type.Literal('inject'),
  directive: DirectiveInput,
})

/** Decides a review. */
export const DecideCommand = Type.Object({
  kind: Type.Literal('decide'),
  reviewId: Type.String(),
  decision: ReviewVerdict,
})
