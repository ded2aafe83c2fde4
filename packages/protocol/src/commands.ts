/**
 * All commands for runs in one table. Routes, WebSocket messages, audit actions, client calls, verbs of the command line,
 * documents and the dashboard's menu are derived from it.
 *
 *   body ─▶ command ─▶ run service ─▶ store ─▶ worker ─▶ engine ─▶ reply ─▶ response
 *
 * A command is plain data. The engine's `steering.ts` interprets it; all code between the API and the engine passes it on
 * unchanged.
 */
import Type from 'typebox'
import type { ErrorCode } from './error-codes.ts'
import type { Scope } from './schemas/enums.ts'
import { ReviewDecisionApplied, ReviewDecisionBody } from './schemas/rest/reviews.ts'
import {
  CancelAccepted,
  CancelBody,
  InjectAccepted,
  InjectBody,
  ModelSwitched,
  SwitchModelBody,
} from './schemas/rest/run-control.ts'
import {
  CancelCommand,
  DecideCommand,
  InjectCommand,
  optionalText,
  SwitchModelCommand,
} from './schemas/run-command.ts'

import type { RunEvent } from './schemas/run-event.ts'
import type { Static } from './static.ts'

/** Schema of a body, whose properties are options of the command line. */
type BodySchema = Type.TSchema & { readonly properties: Type.TProperties }

/** A command for runs, with its schemas. */
export interface CommandEntry<
  Command extends Type.TSchema = Type.TSchema,
  Reply extends Type.TSchema = Type.TSchema,
  Body extends BodySchema = BodySchema,
  Response extends Type.TSchema = Type.TSchema,
> {
  /** Schema of the command as it is stored and interpreted; its `kind` is the key of the entry. */
  readonly command: Command
  /** Schema of the engine's reply. */
  readonly reply: Reply
  /** Path parameter that names the target: a run, or a review. */
  readonly target: 'runId' | 'reviewId'
  /** Name of the route, and of the action in the audit trail. */
  readonly routeName: string
  /** A WebSocket `command` has the same body, response, scope and errors. */
  readonly route: {
    readonly method: 'POST'
    readonly path: string
    readonly body: Body
    /** True when the body can be omitted, which means an empty object. */
    readonly bodyOptional?: true
    readonly response: Response
    readonly status: 200
    readonly scope: Scope
    readonly errors: readonly ErrorCode[]
    readonly summary: string
  }
  /** Fields that the command has in addition to its body when a caller of the API sends it. @default {} */
  readonly fromApi?: Readonly<Record<string, unknown>>
  /** Type of the event that records the command. */
  readonly event: RunEvent['type']
  /** Whether an unowned run continues after the command. @default false */
  readonly continues?: true
  /** Verb of the command line and its line in the help. */
  readonly cli: { readonly verb: string; readonly description: string }
  /** Button in the dashboard's menu of a run; absent for a command that has its own page. */
  readonly label?: string
}

/** Fields that the routes of all commands share. */
const COMMAND_ROUTE = { method: 'POST', status: 200 } as const

/** Commands by kind, in the order of the help and the dashboard's menu. */
export const COMMANDS = {
  inject: {
    command: InjectCommand,
    /** Id of the directive. */
    reply: Type.Object({ id: Type.String() }),
    target: 'runId',
    routeName: 'injectDirective',
    route: {
      ...COMMAND_ROUTE,
      path: '/api/runs/{runId}/inject',
      body: InjectBody,
      response: InjectAccepted,
      scope: 'runs:control',
      errors: [
        'RUN_NOT_FOUND',
        'RUN_COMPLETED',
        'RUN_NOT_RUNNING',
        'INVALID_MODEL',
        'NOT_CONFIRMED',
      ],
      summary: 'Inject a directive: text for the agents of a run, or a model tier or profile',
    },
    event: 'directive_active',
    cli: {
      verb: 'inject',
      description: 'inject guidance into a run; its agents read it before their next model call',
    },
    label: 'Direct…',
  },
  switch_model: {
    command: SwitchModelCommand,
    reply: Type.Object({
      /** Alias of the model, or `provider:name`; the tier when each task has its own model. */
      model: Type.String(),
      /** The tier, when one was requested. */
      tier: optionalText,
      /** The model that it replaces; absent for a run in which each task has its own model. */
      previousModel: optionalText,
    }),
    target: 'runId',
    routeName: 'switchModel',
    route: {
      ...COMMAND_ROUTE,
      path: '/api/runs/{runId}/model',
      body: SwitchModelBody,
      response: ModelSwitched,
      scope: 'runs:control',
      errors: [
        'RUN_NOT_FOUND',
        'RUN_COMPLETED',
        'RUN_NOT_RUNNING',
        'INVALID_MODEL',
        'NOT_CONFIGURED',
        'NOT_CONFIRMED',
      ],
      summary: 'Switch the model of a run or of one task, from the next model call on',
    },
    event: 'model_switched',
    cli: { verb: 'model', description: 'switch the model of a run, or of one of its tasks' },
    label: 'Switch model…',
  },
  cancel: {
    command: CancelCommand,
    /** `CANCELLED` when the run has ended with the command, `CANCELLING` while its work stops. */
    reply: Type.Object({ status: Type.Enum(['CANCELLING', 'CANCELLED']) }),
    target: 'runId',
    routeName: 'cancelRun',
    route: {
      ...COMMAND_ROUTE,
      path: '/api/runs/{runId}/cancel',
      body: CancelBody,
      bodyOptional: true,
      response: CancelAccepted,
      scope: 'runs:control',
      errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED'],
      summary: 'Cancel a run; can be repeated safely, and is refused when the run has ended',
    },
    fromApi: { cause: 'CALLER' },
    event: 'run_cancelling',
    continues: true,
    cli: { verb: 'cancel', description: 'cancel runs by id or by tag' },
    label: 'Cancel…',
  },
  decide: {
    command: DecideCommand,
    reply: Type.Object({
      /** Build whose code the run needs to continue, and which no process has; absent when the run can continue. */
      waitsForBuild: optionalText,
    }),
    target: 'reviewId',
    routeName: 'decideReview',
    route: {
      ...COMMAND_ROUTE,
      path: '/api/reviews/{reviewId}',
      body: ReviewDecisionBody,
      response: ReviewDecisionApplied,
      scope: 'reviews:decide',
      errors: ['REVIEW_NOT_FOUND', 'REVIEW_RESOLVED', 'NOT_CONFIRMED'],
      summary: 'Decide a review; the first decision counts',
    },
    event: 'review_decided',
    continues: true,
    cli: {
      verb: 'review',
      description: 'decide the open reviews on the terminal, or one of them; or list them',
    },
  },
} as const satisfies Readonly<Record<string, CommandEntry>>

export type RunCommandKind = keyof typeof COMMANDS

/** Every kind of command, in the order of the table. */
export const RUN_COMMAND_KINDS: readonly RunCommandKind[] = Object.values(COMMANDS).map(
  ({ command }) => command.properties.kind.const,
)

/** Type of an event that records a command. */
export type CommandEvent = (typeof COMMANDS)[RunCommandKind]['event']

const EVENTS: ReadonlySet<string> = new Set(Object.values(COMMANDS).map(({ event }) => event))

/** Whether events of a type record a command. */
export function isCommandEvent(type: RunEvent['type']): type is CommandEvent {
  return EVENTS.has(type)
}

/** Entry of a command of the kinds `K`. */
export type CommandEntryOf<K extends RunCommandKind> = CommandEntry<
  (typeof COMMANDS)[K]['command'],
  (typeof COMMANDS)[K]['reply'],
  (typeof COMMANDS)[K]['route']['body'],
  (typeof COMMANDS)[K]['route']['response']
>

/** The table, typed so that an entry found by a variable keeps the types of its kind. */
const ENTRIES: { readonly [K in RunCommandKind]: CommandEntryOf<K> } = COMMANDS

/** Returns the entry of a command. */
export function commandEntry<K extends RunCommandKind>(kind: K): CommandEntryOf<K> {
  return ENTRIES[kind]
}

/** Command for a run. Narrows by `kind`. */
export const RunCommand = Type.Unsafe<Static<(typeof COMMANDS)[RunCommandKind]['command']>>(
  Type.Union(Object.values(COMMANDS).map(({ command }) => command)),
)
export type RunCommand = Static<typeof RunCommand>

/** A command of the kinds `K`. */
export type RunCommandOf<K extends RunCommandKind> = {
  [P in K]: { kind: P } & Extract<RunCommand, { kind: P }>
}[K]

/** The engine's reply to a command of the kinds `K`. */
export type ReplyTo<K extends RunCommandKind> = Static<(typeof COMMANDS)[K]['reply']>

/** Body of a command of the kinds `K`, over REST and WebSocket. */
export type CommandBody<K extends RunCommandKind> = Static<(typeof COMMANDS)[K]['route']['body']>

/** Response to a command of the kinds `K`, over REST and WebSocket. */
export type CommandResponse<K extends RunCommandKind> = Static<
  (typeof COMMANDS)[K]['route']['response']
>
