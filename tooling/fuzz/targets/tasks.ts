/** Attacks the `/tasks` wire, which agent tools speak, for all ensembles and for one. */
import { Type } from '@tutti/core'
import * as fc from 'fast-check'

import { CancelParams, TasksSendParams } from '../../../packages/compat-jamjet/src/server/wire.ts'
import { bodiesOf, postsOf, requestAttempt, type Target } from './target.ts'

/** The `/tasks` wire. */
export function tasksTarget(): Target {
  const sends = fc.constantFrom(
    '/tasks/send',
    '/tasks/sendSubscribe',
    '/agents/write/tasks/send',
    '/agents/reviewed/tasks/send',
    '/agents/reviewed/tasks/sendSubscribe',
    '/agents/none/tasks/send',
  )
  const cancels = fc.constantFrom('/tasks/cancel', '/agents/write/tasks/cancel')
  const requests = fc.oneof(
    { weight: 3, arbitrary: postsOf(sends, bodiesOf(envelope(TasksSendParams))) },
    // Without an envelope, the body is the parameters.
    { weight: 1, arbitrary: postsOf(sends, bodiesOf(TasksSendParams)) },
    { weight: 1, arbitrary: postsOf(cancels, bodiesOf(envelope(CancelParams))) },
  )
  return { name: 'tasks', attempts: requests.map(requestAttempt) }
}

function envelope(params: object) {
  return Type.Object({
    jsonrpc: Type.Optional(Type.Literal('2.0')),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()])),
    method: Type.Optional(Type.String()),
    params: Type.Unsafe(params),
  })
}
