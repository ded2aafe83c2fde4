/** Answers the messages of a connection, each as the REST route of the same name does. */
import { traceContextOf } from '@tutti/core'
import { CLIENT_MESSAGE_TYPES, isTerminalRunStatus, shortText } from '@tutti/protocol'
import {
  actorOf,
  answerTaskRequest,
  answerToolRequest,
  assertScope,
  audited,
  type AuditSubject,
  type Caller,
  decideReview,
  isAudited,
  largeJson,
  sharedCapabilities,
  submitRunAs,
  type AddSubject,
} from '@tutti/gateway'

import { listRuns } from '../runs/list-runs.ts'
import { readRunDetail } from '../runs/run-detail.ts'
import { broadcastDirective } from '../steering/broadcast.ts'
import { assertFeedback } from '../steering/reviews.ts'
import { toSwitchCommand } from '../steering/to-command.ts'
import { toCapabilities } from '../runs/to-wire.ts'
import { decodeMessage, readOwnText } from './parse-message.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type {
  ClientMessage,
  LoggedRunEvent,
  Scope,
  ServerMessage,
  SharedCapability,
} from '@tutti/protocol'

/** A message of one type. */
export type MessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { type: Type }>

/** The connection that asks. */
export interface MessageContext {
  readonly options: ResolvedControlApiOptions
  readonly caller: Caller
  /** The run that the connection is about; undefined for every run. */
  readonly runId: string | undefined
  /** Sends a reply, given as it is or as JSON in UTF-8. */
  readonly send: (message: ServerMessage | Uint8Array) => void
  /** Changes what the connection is sent. */
  readonly subscribe: (message: MessageOf<'subscribe'>) => Promise<void>
  /**
   * Has the result of a run sent to the connection, whatever it subscribed to. What it returns takes that
   * back, and says whether the result was not sent yet.
   */
  readonly own: (runId: string) => () => boolean
  /** Aborts when the connection is over. */
  readonly gone: AbortSignal
}

/** What a caller must be allowed to do for a message: the same as for the route of its kind. */
export const MESSAGE_SCOPES: Readonly<Record<ClientMessage['type'], Scope>> = {
  ping: 'runs:read',
  subscribe: 'runs:read',
  state_query: 'runs:read',
  capability_query: 'runs:read',
  run_request: 'runs:write',
  task_request: 'runs:write',
  run_control: 'runs:control',
  directive: 'runs:control',
  review_decision: 'reviews:decide',
  tool_request: 'tools:invoke',
}

/**
 * Does what a message asks and replies, if its sender may; what changes something is written to the audit trail.
 * `onDecoded` is called with the message once it is known to fit its schema.
 *
 * @throws {TuttiError} FORBIDDEN before the message is decoded, BAD_REQUEST, and what the action throws; nothing
 * was sent then.
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
    assertScope(caller, scope)
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

/** Field that names the target of a message in the audit trail. */
const TARGETS: Readonly<Partial<Record<ClientMessage['type'], string>>> = {
  directive: 'to',
  review_decision: 'reviewId',
  task_request: 'task',
  tool_request: 'tool',
}

/** Returns what a message is about, as far as it says so. It is not decoded yet, so texts are cut. */
function readSubject(
  action: ClientMessage['type'],
  sent: unknown,
  { runId: ownRunId }: MessageContext,
): AuditSubject {
  const named = action === 'run_control' || action === 'directive' ? readOwnText(sent, 'runId') : ''
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
      addSubject({ runId: await submit(message, context) })
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
      context.send(await largeJson(await answerStateQuery(message, context.options)))
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

/** Submits a run; gives its id. */
async function submit(message: MessageOf<'run_request'>, context: MessageContext): Promise<string> {
  const { type: _type, requestId, idempotencyKey, traceContext, ...body } = message
  const { runId, taskCount, workflow } = await submitRunAs(context.options, body, {
    caller: context.caller,
    ...traceContextOf(traceContext?.traceparent, traceContext?.tracestate),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
  const disown = context.own(runId)
  context.send({
    type: 'run_ack',
    ...(requestId === undefined ? {} : { requestId }),
    runId,
    status: 'ACCEPTED',
    tasks: taskCount,
    workflow,
  })
  // Under an idempotency key it may be a run that has ended, of which nothing more is heard.
  const result = idempotencyKey === undefined ? undefined : await readResult(context.options, runId)
  if (result !== undefined && disown()) context.send(result)
  return runId
}

/** The last event of a run that has ended. */
async function readResult(
  { runs }: Pick<ResolvedControlApiOptions, 'runs'>,
  runId: string,
): Promise<LoggedRunEvent | undefined> {
  const run = await runs.record(runId)
  if (run === undefined || !isTerminalRunStatus(run.status)) return undefined
  const [event] = await runs.readEvents({ runId, from: run.lastSeq, limit: 1 })
  return event
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
    const command = { kind: 'cancel', ...mode, ...actorOf(caller) } as const
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

/** Decides a review; what comes of it is told by its `review_decided`. */
async function decide(
  message: MessageOf<'review_decision'>,
  { options, caller }: MessageContext,
  addSubject: AddSubject,
): Promise<void> {
  const { type: _type, reviewId, ...body } = message
  assertFeedback(body)
  await decideReview(options.runs, reviewId, { ...body, caller, addSubject })
}

type StateResponse = Extract<ServerMessage, { type: 'state_response' }>

/**
 * Answers `state_query` with the bodies of the REST routes.
 *
 * @throws {TuttiError} RUN_NOT_FOUND for the detail of an unknown run.
 */
async function answerStateQuery(
  { requestId, query, runId = '', filter = {} }: MessageOf<'state_query'>,
  options: ResolvedControlApiOptions,
): Promise<StateResponse> {
  const answer = (data: StateResponse['data']): StateResponse => ({
    type: 'state_response',
    requestId,
    data,
  })
  const { reads } = options
  if (query === 'capabilities') return answer(toCapabilities(options))
  if (query === 'runs') return answer(await reads.run(() => listRuns(options, filter)))
  return answer(await reads.run(() => readRunDetail(options, runId)))
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
