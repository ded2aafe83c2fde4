/** Handles the messages of a connection like the corresponding REST routes. */
import { TuttiError } from '@tutti/core'
import { decode, type ClientMessage, type Scope, type ServerMessage } from '@tutti/protocol'
import {
  CLIENT_MESSAGE_TYPES,
  commandEntry,
  RUN_COMMAND_KINDS,
  shortText,
  type CommandResponse,
  type RunCommandKind,
} from '@tutti/protocol/internal'
import {
  assertScope,
  audited,
  type AuditSubject,
  badRequest,
  findDecisionScope,
  isAudited,
  largeJson,
  type AddSubject,
  type ExtensionMessageType,
  type MessageOf,
} from '@tutti/gateway/internal'

import { compareRuns } from '../runs/compare-runs.ts'
import { listBuilds } from '../runs/list-builds.ts'
import { listRuns } from '../runs/list-runs.ts'
import { readRunDetail } from '../runs/run-detail.ts'
import { repeatId } from '../repeat-id.ts'
import { performCommand, type CommandCall } from '../steering/perform-command.ts'
import { toCapabilities } from '../runs/to-wire.ts'
import { findAddedMessage } from './added-message.ts'
import { broadcastDirective } from './broadcast-directive.ts'
import { toRunControlAck } from './control-messages.ts'
import { decodeMessage, readOwnText } from './parse-message.ts'
import { submitFork, submitReplay, submitRequest } from './submit-message.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { MessageContext } from './message-context.ts'

/** A message before it is decoded. */
interface MessageHead {
  /** Action in the audit trail. */
  readonly action: string
  /** Scope that the message requires, the same as its REST route. */
  readonly scope: Scope
  /** Whether `target` is a review, which decides the scope. */
  readonly isForReview?: boolean
  /** Fields that name the run and the target, for the audit trail. */
  readonly runId?: string | undefined
  readonly target?: string | undefined
}

interface MessageHandler<T extends ClientMessage['type']> {
  readonly scope: Scope
  /** Reads the rest of the head; the action is the type of the message otherwise. */
  readonly readHead?: (sent: unknown, context: MessageContext) => Partial<MessageHead>
  readonly answer: (
    message: MessageOf<T>,
    context: MessageContext,
    addSubject: AddSubject,
  ) => Promise<void> | void
}

const HANDLERS: {
  readonly [T in Exclude<ClientMessage['type'], ExtensionMessageType>]: MessageHandler<T>
} = {
  ping: {
    scope: 'runs:read',
    answer(_, { send }) {
      send({ type: 'pong' })
    },
  },
  subscribe: { scope: 'runs:read', answer: (message, { subscribe }) => subscribe(message) },
  state_query: {
    scope: 'runs:read',
    async answer(message, context) {
      context.send(await answerStateQuery(message, context))
    },
  },
  run_request: {
    scope: 'runs:write',
    async answer(message, context, addSubject) {
      addSubject({ runId: await submitRequest(message, context) })
    },
  },
  run_fork: {
    scope: 'runs:write',
    readHead: (sent) => ({ target: readOwnText(sent, 'parentRunId') }),
    answer: submitFork,
  },
  run_replay: {
    scope: 'runs:write',
    readHead: (sent) => ({ target: readOwnText(sent, 'parentRunId') }),
    async answer(message, context, addSubject) {
      addSubject({ runId: await submitReplay(message, context) })
    },
  },
  run_migrate: {
    scope: 'runs:control',
    readHead: (sent) => ({ runId: readOwnText(sent, 'runId') }),
    async answer(message, context) {
      context.send(await migrateRun(message, context.options))
    },
  },
  command: {
    scope: 'runs:control',
    readHead: readCommandHead,
    async answer({ requestId, command, target, body = {} }, context, addSubject) {
      const call = { ...toSender(context, addSubject), target, body }
      const response = await performDecoded(command, call)
      context.send({ type: 'command_ack', requestId, command, response })
    },
  },
  run_control: {
    scope: 'runs:control',
    readHead: (sent) => ({ runId: readOwnText(sent, 'runId') }),
    answer: controlRun,
  },
  directive: {
    scope: 'runs:control',
    readHead: (sent, { runId }) => ({
      runId: readOwnText(sent, 'runId') ?? runId,
      target: readOwnText(sent, 'to'),
    }),
    async answer(message, context) {
      const directiveId = await broadcastDirective(context.options.runs, message, context)
      const id = repeatId(message.requestId)
      context.send({ type: 'directive_ack', ...id, directiveId, status: 'accepted' })
    },
  },
  review_decision: {
    scope: 'reviews:decide',
    readHead: (sent) => ({ target: readOwnText(sent, 'reviewId'), isForReview: true }),
    async answer({ type: _, requestId, reviewId, ...body }, context, addSubject) {
      const call = { ...toSender(context, addSubject), target: reviewId, body }
      const applied = await performCommand('decide', call)
      context.send({ type: 'review_decision_ack', ...repeatId(requestId), ...applied })
    },
  },
}

/**
 * Returns the handler of a type of messages.
 *
 * @throws {TuttiError} NOT_CONFIGURED when only an extension can answer them, and the server has none that does.
 */
function findHandler<T extends ClientMessage['type']>(
  type: T,
  { extensions }: Pick<ResolvedControlApiOptions, 'extensions'>,
): MessageHandler<T> {
  const own: { readonly [K in ClientMessage['type']]?: MessageHandler<K> } = HANDLERS
  const handler: MessageHandler<T> | undefined = own[type]
  if (handler !== undefined) return handler
  const added = findAddedMessage(type, extensions)
  if (added === undefined) {
    throw new TuttiError('NOT_CONFIGURED', `This server has no extension that answers "${type}"`)
  }
  const { scope, target, answer: answerAdded } = added
  return {
    scope,
    ...(target === undefined
      ? {}
      : { readHead: (sent) => ({ target: readOwnText(sent, target) }) }),
    answer: answerAdded,
  }
}

/**
 * Performs the action of a message and replies, if the scopes of its sender allow it. Actions that change something are
 * recorded in the audit trail. `onDecoded` is called with the message once it is valid.
 *
 * @throws {TuttiError} FORBIDDEN and NOT_CONFIGURED before the message is decoded, BAD_REQUEST, and the errors of the
 * action. No reply was sent then.
 */
export async function answerMessage(
  sent: unknown,
  context: MessageContext,
  onDecoded: (message: ClientMessage) => void,
): Promise<void> {
  const { caller, options } = context
  const type = readType(sent)
  if (type === undefined) {
    decodeMessage(sent)
    return
  }
  const { scope: ownScope, readHead } = findHandler(type, options)
  const head = { action: type, scope: ownScope, ...readHead?.(sent, context) }
  const { action, scope, isForReview = false, runId, target } = head
  const work = async (addSubject: AddSubject): Promise<void> => {
    assertScope(
      caller,
      isForReview ? await findDecisionScope(options.runs, target ?? '', caller) : scope,
    )
    const message = decodeMessage(sent)
    onDecoded(message)
    await answer(message.type, message, { context, addSubject })
  }
  if (!isAudited(scope)) {
    await work(() => undefined)
    return
  }
  const audit = { caller, action, via: 'websocket', ...toSubject(runId, target) } as const
  await audited(audit, { trail: options.trail, now: options.clock.now() }, work)
}

/** Returns the type of a message that is not decoded yet; undefined for a type that does not exist. */
function readType(sent: unknown): ClientMessage['type'] | undefined {
  const type = readOwnText(sent, 'type')
  return CLIENT_MESSAGE_TYPES.find((known) => known === type)
}

/** Returns run and target of a message that is not validated yet, so texts are truncated. */
function toSubject(runId: string | undefined, target: string | undefined): AuditSubject {
  return {
    ...(runId === undefined || runId === '' ? {} : { runId: shortText(runId) }),
    ...(target === undefined ? {} : { target: shortText(target) }),
  }
}

async function answer<T extends ClientMessage['type']>(
  type: T,
  message: MessageOf<T>,
  { context, addSubject }: { readonly context: MessageContext; readonly addSubject: AddSubject },
): Promise<void> {
  await findHandler(type, context.options).answer(message, context, addSubject)
}

/** Returns the audit action, scope and subject of a command, as for its REST route. */
function readCommandHead(sent: unknown): Partial<MessageHead> {
  const kind = RUN_COMMAND_KINDS.find((known) => known === readOwnText(sent, 'command'))
  if (kind === undefined) return {}
  const { route, routeName: action, target: parameter } = commandEntry(kind)
  const id = readOwnText(sent, 'target')
  const subject = parameter === 'runId' ? { runId: id } : { target: id, isForReview: true }
  return { action, scope: route.scope, ...subject }
}

/** Gives the body of a command its type, which `decodeMessage` has checked, and performs the command. */
async function performDecoded<K extends RunCommandKind>(
  kind: K,
  call: Omit<CommandCall<K>, 'body'> & { readonly body: object },
): Promise<CommandResponse<K>> {
  const decoded = decode(commandEntry(kind).route.body, call.body)
  if (!decoded.ok) throw badRequest('message', decoded.problems)
  return performCommand(kind, { ...call, body: decoded.value })
}

/** Returns the sender of a command. */
function toSender(
  { options: { runs }, caller }: MessageContext,
  addSubject: AddSubject,
): Pick<CommandCall<RunCommandKind>, 'runs' | 'caller' | 'addSubject'> {
  return { runs, caller, addSubject }
}

async function migrateRun(
  { requestId, runId, to, preview = false }: MessageOf<'run_migrate'>,
  { runs }: Pick<ResolvedControlApiOptions, 'runs'>,
): Promise<ServerMessage> {
  const migrated = await runs.builds.migrate(runId, { to, preview })
  return { type: 'run_migrate_ack', ...repeatId(requestId), ...migrated }
}

async function controlRun(
  message: MessageOf<'run_control'>,
  context: MessageContext,
  addSubject: AddSubject,
): Promise<void> {
  const { type: _, requestId: _id, runId: target, action, mode, ...model } = message
  const call = { ...toSender(context, addSubject), target }
  const response =
    action === 'cancel'
      ? await performCommand('cancel', { ...call, body: mode === undefined ? {} : { mode } })
      : await performCommand('switch_model', { ...call, body: model })
  context.send(toRunControlAck(message, response))
}

type StateResponse = Extract<ServerMessage, { type: 'state_response' }>

/**
 * Returns the reply to `state_query`, with the bodies of the REST routes; a large one as JSON.
 *
 * @throws {TuttiError} RUN_NOT_FOUND for the detail or the comparison of an unknown run.
 */
async function answerStateQuery(
  { requestId, query, runId = '', filter = {}, compare }: MessageOf<'state_query'>,
  { options, caller }: Pick<MessageContext, 'options' | 'caller'>,
): Promise<StateResponse | Uint8Array> {
  const answer = (data: StateResponse['data']): StateResponse => ({
    type: 'state_response',
    requestId,
    data,
  })
  const read = (find: () => Promise<StateResponse['data']>): Promise<Uint8Array> =>
    options.reads.run(async () => largeJson(answer(await find())))
  if (query === 'capabilities') return answer(toCapabilities(options))
  if (query === 'builds') return answer(await listBuilds(options.runs))
  if (query === 'comparison' && compare !== undefined) {
    return read(() => compareRuns(options, compare, caller))
  }
  if (query === 'runs') return read(() => listRuns(options, filter))
  return read(() => readRunDetail(options, runId, caller))
}
