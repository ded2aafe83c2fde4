/** Attacks A2A over JSON-RPC and REST in its versions. */
import { Type } from '@tutti/core'
import * as fc from 'fast-check'

import {
  GetTaskParams,
  ListTasksParams,
  SendParams,
  TaskIdParams,
} from '../../../packages/gateway/src/a2a/wire.ts'
import { bodiesOf, requestAttempt, type Target } from './target.ts'

import type { Request } from '../lib/exchange.ts'

/** A2A. */
export function agentsTarget(): Target {
  return {
    name: 'a2a',
    attempts: fc.oneof(rpcRequests(), restRequests()).map(requestAttempt),
  }
}

const PART = Type.Union([
  Type.Object({ text: Type.String() }),
  Type.Object({ data: Type.Unknown() }),
  Type.Object({ kind: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    kind: Type.Literal('file'),
    file: Type.Object({ bytes: Type.String(), name: Type.String() }),
  }),
  Type.Object({ url: Type.String(), filename: Type.Optional(Type.String()) }),
])

/** A message of 0.3, which has other names for roles and parts. */
const LEGACY_SEND = Type.Object({
  message: Type.Object({
    kind: Type.Literal('message'),
    messageId: Type.String({ minLength: 1 }),
    role: Type.Enum(['user', 'agent']),
    taskId: Type.Optional(Type.String()),
    parts: Type.Array(PART, { minItems: 1 }),
  }),
  configuration: Type.Optional(Type.Object({ blocking: Type.Boolean() })),
})

/** Method → schema of its parameters. */
const METHODS: readonly (readonly [string, object])[] = [
  ['SendMessage', SendParams],
  ['SendStreamingMessage', SendParams],
  ['GetTask', GetTaskParams],
  ['ListTasks', ListTasksParams],
  ['CancelTask', TaskIdParams],
  ['SubscribeToTask', TaskIdParams],
  ['message/send', LEGACY_SEND],
  ['message/stream', LEGACY_SEND],
  ['tasks/get', GetTaskParams],
  ['tasks/list', ListTasksParams],
  ['tasks/cancel', TaskIdParams],
  ['tasks/resubscribe', TaskIdParams],
  ['tasks/pushNotificationConfig/set', TaskIdParams],
  ['agent/getAuthenticatedExtendedCard', Type.Object({})],
  ['constructor', Type.Object({})],
]

function rpcRequests(): fc.Arbitrary<Request> {
  const calls = METHODS.map(([method, params]) =>
    bodiesOf(
      Type.Object({
        jsonrpc: Type.Literal('2.0'),
        id: Type.Union([Type.Integer(), Type.String()]),
        method: Type.Literal(method),
        params: Type.Unsafe(params),
      }),
    ),
  )
  const path = fc.constantFrom(
    '/a2a',
    '/',
    '/agents/write/a2a',
    '/agents/reviewed',
    '/agents/none/a2a',
  )
  return posts(path, fc.oneof(...calls))
}

function restRequests(): fc.Arbitrary<Request> {
  const sends = posts(
    fc.constantFrom(
      '/a2a/v1/message:send',
      '/a2a/v1/message:stream',
      '/agents/write/a2a/v1/message:send',
    ),
    bodiesOf(SendParams),
  )
  const others = fc.constantFrom(
    ['GET', '/a2a/v1/tasks?pageSize=5'],
    ['GET', '/a2a/v1/tasks?pageSize=0&pageToken=x'],
    ['GET', '/a2a/v1/tasks/first?historyLength=-1'],
    ['GET', '/a2a/v1/tasks/%ff'],
    ['POST', '/a2a/v1/tasks/first:cancel'],
    ['GET', '/a2a/v1/tasks/first:subscribe'],
    ['GET', '/a2a/v1/tasks/first/pushNotificationConfigs/x'],
    ['GET', `/a2a/v1/${'x'.repeat(10_000)}`],
    ['GET', '/.well-known/agent-card.json'],
    ['GET', '/agents/%00/.well-known/agent-card.json'],
  )
  return fc.oneof(
    sends,
    others.map(([method = '', path = '']) => ({ method, path })),
  )
}

function posts(path: fc.Arbitrary<string>, body: fc.Arbitrary<string>): fc.Arbitrary<Request> {
  const version = fc.constantFrom('1.0', '0.3', '', '9.9')
  return fc.tuple(path, body, version).map(([to, text, a2aVersion]) => ({
    method: 'POST',
    path: to,
    headers: { 'content-type': 'application/json', 'a2a-version': a2aVersion },
    body: text,
  }))
}
