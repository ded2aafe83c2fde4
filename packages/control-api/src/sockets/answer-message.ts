/** Handles the messages of a connection like the corresponding REST routes. */
import { CLIENT_MESSAGE_TYPES, shortText } from '@tutti/protocol'
import {
  actorOf,
  answerTaskRequest,
  answerToolRequest,
  assertScope,
  audited,
  type AuditSubject,
  decideReview,
  findDecisionScope,
  isAudited,
  largeJson,
  sharedCapabilities,
  type AddSubject,
} from '@tutti/gateway'

import { compareRuns } from '../runs/compare-runs.ts'
import { listBuilds } from '../runs/list-builds.ts'
import { listRuns } from '../runs/list-runs.ts'
import { readRunDetail } from '../runs/run-detail.ts'
import { broadcastDirective } from '../steering/broadcast.ts'
import { assertFeedback } from '../steering/reviews.ts'
import { toSwitchCommand } from '../steering/to-command.ts'
import { toCapabilities } from '../runs/to-wire.ts'
import { repeatId, type MessageContext, type MessageOf } from './message-context.ts'
import { decodeMessage, readOwnText } from './parse-message.ts'
import { submitFork, submitReplay, submitRequest } from './submit-message.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ClientMessage, Scope, ServerMessage, SharedCapability } from '@tutti/protocol'

/** Scope that each type of message requires, the same as its REST route. */
export const MESSAGE_SCOPES: Readonly<Record<ClientMessage['type'], Scope>> = {
  ping: 'runs:read',
  subscribe: 'runs:read',
  state_query: 'runs:read',
  capability_query: 'runs:read',
  run_request: 'runs:write',
  run_fork: 'runs:write',
  run_replay: 'runs:write',
  run_migrate: 'runs:control',
  task_request: 'runs:write',
  run_control: 'runs:control',
  directive: 'runs:control',
  review_decision: 'reviews:decide',
  tool_request: 'tools:invoke',
}

/**
 * Performs the action of a message and replies, if the scopes of its sender allow it. Actions that change something are
 * recorded in the audit trail. `onDecoded` is called with the message once it is valid.
 *
 * @throws {TuttiError} FORBIDDEN before the message is decoded, BAD_REQUEST, and the errors of the action. No reply was
 * sent then.
 */
export async function answerMessage(
  sent: unknown,
  context: MessageContext,
  onDecoded: (message: ClientMessage) => void,
): Promise<void> {
  const { caller, options } = context
  const action = readAction(sent)
  if (action === undefined) {
    decodeMessage(sent)
    return
  }
  const scope = MESSAGE_SCOPES[action]
  const work = async (addSubject: AddSubject): Promise<void> => {
    assertScope(
      caller,
      action === 'review_decision'
        ? await findDecisionScope(options.runs, readOwnText(sent, 'reviewId') ?? '', caller)
        : scope,
    )
    const message = decodeMessage(sent)
    onDecoded(message)
    await answer(message, context, addSubject)
  }
  if (!isAudited(scope)) {
    await work(() => undefined)
    return
  }
  const audit = { caller, action, via: 'websocket', ...readSubject(action, sent, context) } as const
  await audited(audit, { trail: options.trail, now: options.clock.now() }, work)
}

/** Returns the type of a message that is not decoded yet; undefined for a type that does not exist. */
function readAction(sent: unknown): ClientMessage['type'] | undefined {
  const type = readOwnText(sent, 'type')
  return CLIENT_MESSAGE_TYPES.find((known) => known === type)
}

/** Field of a message that is its target in the audit trail. */
const TARGETS: Readonly<Partial<Record<ClientMessage['type'], string>>> = {
  directive: 'to',
  review_decision: 'reviewId',
  run_fork: 'parentRunId',
  run_replay: 'parentRunId',
  task_request: 'task',
  tool_request: 'tool',
}

/** Messages whose `runId` is the run that they act on. */
const NAMES_RUN: ReadonlySet<string> = new Set(['run_control', 'run_migrate', 'directive'])

/** Returns run and target of a message that is not validated yet, so texts are truncated. */
function readSubject(
  action: ClientMessage['type'],
  sent: unknown,
  { runId: ownRunId }: MessageContext,
): AuditSubject {
  const named = NAMES_RUN.has(action) ? readOwnText(sent, 'runId') : ''
  const runId = action === 'directive' ? (named ?? ownRunId) : named
  const target = readOwnText(sent, TARGETS[action] ?? '')
  return {
    ...(runId === undefined || runId === '' ? {} : { runId: shortText(runId) }),
    ...(target === undefined ? {} : { target: shortText(target) }),
  }
}

async function answer(
  message: ClientMessage,
  context: MessageContext,
  addSubject: AddSubject,
): Promise<void> {
  switch (message.type) {
    case 'ping':
      context.send({ type: 'pong' })
      return
    case 'subscribe':
      await context.subscribe(message)
      return
    case 'run_request':
      addSubject({ runId: await submitRequest(message, context) })
      return
    case 'run_fork':
      await submitFork(message, context, addSubject)
      return
    case 'run_replay':
      addSubject({ runId: await submitReplay(message, context) })
      return
    case 'run_migrate':
      context.send(await migrateRun(message, context.options))
      return
    case 'run_control':
      await controlRun(message, context)
      return
    case 'directive':
      await injectDirective(message, context)
      return
    case 'review_decision':
      await decide(message, context, addSubject)
      return
    case 'state_query':
      context.send(await answerStateQuery(message, context))
      return
    case 'task_request':
      await answerTaskRequest(message, context)
      return
    case 'tool_request':
      await answerToolRequest(message, context)
      return
    case 'capability_query':
      answerCapabilityQuery(message, context)
  }
}

async function migrateRun(
  { requestId, runId, to, preview = false }: MessageOf<'run_migrate'>,
  { runs }: Pick<ResolvedControlApiOptions, 'runs'>,
): Promise<ServerMessage> {
  const migrated = await runs.migrate(runId, { to, preview })
  return { type: 'run_migrate_ack', ...repeatId(requestId), ...migrated }
}

async function controlRun(
  message: MessageOf<'run_control'>,
  context: MessageContext,
): Promise<void> {
  const { caller, options } = context
  const { runId, action } = message
  const acknowledged = { type: 'run_control_ack', runId, action } as const
  if (action === 'cancel') {
    const mode = message.mode === undefined ? {} : { mode: message.mode }
    const command = { kind: 'cancel', ...mode, cause: 'CALLER', ...actorOf(caller) } as const
    context.send({ ...acknowledged, ...(await options.runs.send(runId, command)) })
    return
  }
  const switched = await options.runs.send(runId, toSwitchCommand(message, caller))
  context.send({ ...acknowledged, ...switched, status: 'APPLIED' })
}

async function injectDirective(
  message: MessageOf<'directive'>,
  context: MessageContext,
): Promise<void> {
  const directiveId = await broadcastDirective(context.options.runs, message, context)
  context.send({ type: 'directive_ack', directiveId, status: 'accepted' })
}

async function decide(
  message: MessageOf<'review_decision'>,
  { options, caller, send }: MessageContext,
  addSubject: AddSubject,
): Promise<void> {
  const { type: _type, reviewId, ...body } = message
  assertFeedback(body)
  const applied = await decideReview(options.runs, reviewId, { ...body, caller, addSubject })
  send({ type: 'review_decision_ack', ...applied })
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

function answerCapabilityQuery(
  { requestId, toolName, tag, capabilityType }: MessageOf<'capability_query'>,
  { options, send }: MessageContext,
): void {
  const fits = ({ name, type, tags = [] }: SharedCapability): boolean =>
    (toolName === undefined || (type === 'TOOL' && name === toolName)) &&
    (tag === undefined || tags.includes(tag)) &&
    (capabilityType === undefined || type === capabilityType)
  send({
    type: 'capability_response',
    requestId,
    ensemble: options.runs.ensembles[0]?.name ?? '',
    capabilities: sharedCapabilities(options).filter(fits),
  })
}
