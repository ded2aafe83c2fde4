/** Pure: reads messages that begin tasks, and messages to tasks. */
import type { Ensemble, Inputs } from '@tutti/ensemble'
import { missingInputs, namedInputs } from '@tutti/ensemble/internal'
import type { ReviewDecisionBody } from '@tutti/protocol'
import { suggest } from '@tutti/protocol/internal'

import { readIdempotencyKey, readTrace } from '../http/request-headers.ts'
import { readLimits, type UsageLimits } from '../service/caller-limits.ts'
import { readMessageDecision, type ReviewAsked } from '../service/decision-in-text.ts'
import { parseInputs } from '../service/inputs-in-text.ts'
import { toRequestKey } from '../service/request-key.ts'
import { invalidParams } from './errors.ts'
import { mergeObjects, readContent, type MessageContent } from './message.ts'
import { isParams } from './params.ts'
import { CONTEXT_TAG } from './to-task.ts'

import type { BeginRequest, TaskMessage } from '../service/gateway-service.ts'
import type { ServedAgent } from './agent.ts'
import type { SendParams } from './wire.ts'
import type { A2aRequest } from '@tutti/core/internal'

/** Sender of a message, with the fields that its reading needs. */
export interface MessageSender {
  readonly agent: ServedAgent
  readonly headers: Headers
  /** Name of the caller. */
  readonly name: string | undefined
}

/**
 * Reads a message that begins a task.
 *
 * @throws {A2aError} INVALID_PARAMS or CONTENT_TYPE_NOT_SUPPORTED.
 * @throws {TuttiError} BAD_REQUEST for invalid inputs or an invalid idempotency key.
 */
export function readBegin(
  params: SendParams,
  { agent, headers, name }: MessageSender,
): BeginRequest {
  const { message } = params
  const ensemble = selectEnsemble(params, agent)
  const inputs = readInputs(ensemble, readContent(message.parts))
  const key = readIdempotencyKey(headers)
  const contextId = message.contextId ?? createContextId(key, name)
  return {
    ensemble,
    inputs,
    tags: { [CONTEXT_TAG]: contextId },
    origin: toOrigin(params, contextId),
    trace: readTrace(headers),
    limits: readSendLimits(params),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  }
}

/**
 * Reads the limits in the metadata of a request.
 *
 * @throws {A2aError} INVALID_PARAMS.
 */
export function readSendLimits({ metadata }: SendParams): UsageLimits {
  const read = readLimits(isParams(metadata) ? metadata : undefined)
  if (read.ok) return read.limits
  throw invalidParams(read.problems.map((one) => ({ ...one, path: `/metadata${one.path}` })))
}

/** Reads a message to a task. Its meaning depends on whether a review is open. */
export function readReply(content: MessageContent, reviewId: string | undefined): TaskMessage {
  return {
    reviewId,
    decide: (review) => readA2aDecision(content, review),
    guide() {
      const texts = [content.text, ...content.data.map((data) => JSON.stringify(data))]
      const guidance = texts.filter((text) => text.trim() !== '').join('\n')
      if (guidance !== '') return guidance
      throw invalidParams([{ path: PARTS, message: 'must not be blank' }])
    },
  }
}

/** JSON Pointer to the content of a message. */
const PARTS = '/message/parts'

/**
 * Reads a message as the decision of a review. Only JSON becomes the input of a tool, so that a remark never does.
 *
 * @throws {TuttiError} BAD_REQUEST if it does not decide the review.
 */
export function readA2aDecision(
  { text, data }: MessageContent,
  review: ReviewAsked,
): ReviewDecisionBody {
  const given = data.filter(isParams).find((one) => Object.hasOwn(one, 'decision'))
  const { decision, revisedOutput, feedback } = given ?? {}
  const object = {
    decision,
    ...(revisedOutput === undefined ? {} : { revisedOutput }),
    ...(feedback === undefined ? {} : { feedback }),
  }
  const message = {
    object: given === undefined ? undefined : object,
    answer: text.trim() === '' ? data[0] : text,
    text,
    toolInput: isJson(text) ? text : undefined,
    path: PARTS,
  }
  return readMessageDecision(message, review)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Reads the inputs of an ensemble. Data objects set the variables that they name, and text sets the only remaining one.
 * A message that names no variable is one text, with data as JSON. An ensemble without variables accepts any message,
 * because A2A has no empty ones.
 *
 * @throws {TuttiError} BAD_REQUEST naming the needed inputs.
 */
export function readInputs(
  ensemble: Pick<Ensemble, 'name' | 'tasks' | 'inputs'>,
  content: MessageContent,
): Inputs {
  const values = mergeObjects(content)
  const named = namedInputs(ensemble).filter((name) => readOwnText(values, name) !== undefined)
  const given = Object.fromEntries(named.map((name) => [name, readOwnText(values, name) ?? '']))
  const [left, ...others] = missingInputs(ensemble.tasks, given)
  if (left === undefined) return given
  if (named.length > 0 && others.length === 0 && content.text.trim() !== '') {
    return { ...given, [left]: content.text }
  }
  if (named.length > 0) return parseInputs(ensemble, JSON.stringify(values))
  const texts = [content.text, ...content.data.map((value) => JSON.stringify(value))]
  return parseInputs(ensemble, texts.filter((text) => text.trim() !== '').join('\n'))
}

function readOwnText(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Returns a new context id; with an idempotency key, a repeated message gets the same one. */
function createContextId(key: string | undefined, caller: string | undefined): string {
  if (key === undefined) return `context-${crypto.randomUUID()}`
  return toRequestKey(`context of ${caller ?? ''}`, key).replace(/^peer/, 'context')
}

/** Returns the message with its A2A fields, for the history of its task and for tools and handlers. */
function toOrigin({ message, metadata: ofRequest }: SendParams, contextId: string): A2aRequest {
  const { messageId, parts, metadata, extensions, referenceTaskIds } = message
  return {
    protocol: 'a2a',
    messageId,
    contextId,
    parts: parts.map((part) =>
      Object.fromEntries(Object.entries(part).filter(([name]) => PART_FIELDS.includes(name))),
    ),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
    ...(ofRequest === undefined ? {} : { requestMetadata: { ...ofRequest } }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  }
}

const PART_FIELDS = ['text', 'raw', 'url', 'data', 'metadata', 'filename', 'mediaType']

/** Returns the ensemble in `metadata.ensemble` of the request or its message, or else the first. */
function selectEnsemble({ message, metadata }: SendParams, agent: ServedAgent): Ensemble {
  const [first] = agent.ensembles
  const wanted = readEnsembleName(metadata) ?? readEnsembleName(message.metadata) ?? first?.name
  const found = agent.ensembles.find(({ name }) => name === wanted)
  if (found !== undefined) return found
  const names = agent.ensembles.map(({ name }) => name)
  const near = typeof wanted === 'string' ? suggest(wanted, names) : undefined
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  const got = `got ${JSON.stringify(wanted)}${hint}`
  const problem = `must be a skill of this agent, one of ${names.join(', ')}, ${got}`
  throw invalidParams([{ path: '/metadata/ensemble', message: problem }])
}

function readEnsembleName(metadata: object | undefined): unknown {
  return isParams(metadata) ? (metadata['ensemble'] ?? undefined) : undefined
}
