/**
 * The server as an agent that is asked over the `/tasks` wire: `send`, `sendSubscribe`, `cancel`, for all
 * ensembles that are shared and, below `/agents/{ensemble}`, for one of them alone.
 *
 *   body ─▶ envelope ─▶ params ─▶ task ─▶ followed ─┬─ send: one answer
 *                                                   └─ sendSubscribe: lines, the last one is the answer
 *
 * R1 A send is answered when the run has ended or waits for a person. A 2xx answer has a result or a
 *    question; a task that failed or was cancelled is answered with 422 and the task, as callers of this wire
 *    take every 2xx for a result. In a JSON-RPC response, and in the last line of a stream, whose status is
 *    out already, `status` says it.
 * R2 The first line of a stream has the id of the task, and comes before anything has happened. The stream
 *    ends with the answer. When the events cannot be read it ends with a line that says `working` and why: its
 *    reader comes back with the id.
 * R3 A run whose caller went away without ever having been told its id is cancelled after a time of grace,
 *    since nobody can ask for it again. Whoever chose the id, sent an idempotency key, or was sent the first
 *    line can, and their leaving changes nothing.
 * R4 A cancel is answered when the run has stopped, or soon, with the status that the task has then.
 * R5 A refusal has the status and the error body of every other; as a JSON-RPC error it has the body as its
 *    `data`.
 */
import { TuttiError, Type } from '@tutti/core'
import { shortList, shortText, suggest } from '@tutti/protocol'

import { idempotencyKey } from '../http/idempotency-key.ts'
import { readBody } from '../http/read-body.ts'
import { traceOf } from '../http/trace-of.ts'
import { sharedEnsembles } from '../peer/shared.ts'
import { answerCancel } from './answer-cancel.ts'
import { answerSend, type WireCall } from './answer-send.ts'
import { answerSubscribe } from './answer-subscribe.ts'
import { answering } from './answer.ts'
import { envelopeOf } from './read-envelope.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Route, RouteCall } from '../http/route.ts'
import type { Ensemble } from '@tutti/ensemble'

/** What is below each address of an agent. */
const METHODS = [
  { path: '/tasks/send', scope: 'runs:write', answer: answerSend },
  { path: '/tasks/sendSubscribe', scope: 'runs:write', answer: answerSubscribe },
  { path: '/tasks/cancel', scope: 'runs:control', answer: answerCancel },
] as const

/** Where agents are: all ensembles together, and each alone. */
const PREFIXES = ['', '/agents/{ensemble}']

/** The routes of the `/tasks` wire. */
export function tasksWireRoutes(options: GatewayOptions): readonly Route[] {
  return PREFIXES.flatMap((prefix) =>
    METHODS.map(({ path, scope, answer }) => ({
      method: 'POST',
      path: `${prefix}${path}`,
      scope,
      handle: (call) => handle(call, options, answer),
    })),
  )
}

const AnyObject = Type.Record(Type.String(), Type.Unknown())

async function handle(
  { request, caller, tell, parameters }: RouteCall,
  options: GatewayOptions,
  answer: (call: WireCall) => Promise<Response>,
): Promise<Response> {
  const ensemble = ensembleAt(parameters['ensemble'], options)
  const key = idempotencyKey(request.headers)
  const body = await readBody(saidToBeJson(request), AnyObject, options.maxBodyBytes)
  const envelope = envelopeOf(body)
  const sender = {
    options,
    caller,
    tell,
    idempotencyKey: key,
    trace: traceOf(request.headers),
    ...(ensemble === undefined ? {} : { ensemble }),
  }
  const call = { body, envelope, sender, signal: request.signal }
  return answering(envelope, options, () => answer(call))
}

/** A body of which nothing is said is JSON: what else would come here. */
function saidToBeJson(request: Request): Request {
  if (request.headers.has('content-type') || request.body === null) return request
  const headers = new Headers(request.headers)
  headers.set('content-type', 'application/json')
  const { url, method, body } = request
  // A body that is a stream is taken only with the word that it is sent before it is answered.
  const init = { method, headers, body, duplex: 'half' }
  return new Request(url, init)
}

/** @throws {TuttiError} NOT_FOUND for an address of no ensemble that is shared. */
function ensembleAt(name: string | undefined, options: GatewayOptions): Ensemble | undefined {
  if (name === undefined) return undefined
  const shared = sharedEnsembles(options)
  const found = shared.find((ensemble) => ensemble.name === name)
  if (found !== undefined) return found
  const names = shared.map((ensemble) => ensemble.name)
  const near = suggest(name, names)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  const message = `No agent has the name '${shortText(name)}'. Available: [${shortList(names)}]${hint}`
  throw new TuttiError('NOT_FOUND', message)
}
