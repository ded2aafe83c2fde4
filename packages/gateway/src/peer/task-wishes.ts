/** Pure: what a peer wishes of a task besides its input, checked as a whole. */
import { durationMs } from '../duration-ms.ts'
import { badRequest } from '../http/api-error.ts'

import type { Problem, TaskRequest } from '@tutti/protocol'

/** How a peer wants its task. `priority` is a hint, which changes nothing here. */
export interface TaskWishes {
  /** Whether the peer is told how the task goes and ends. */
  readonly reports: boolean
  /** How long the task may take from its submission, in milliseconds. */
  readonly deadlineMs?: number
  /** Under which an earlier result may be given, and this one be found. */
  readonly cacheKey?: string
  /** How old an earlier result may be, in milliseconds; absent when none is wanted. */
  readonly maxAgeMs?: number
}

/** Ways of delivery that this server has. */
const METHODS = ['WEBSOCKET', 'NONE']

/**
 * Reads the wishes.
 *
 * @throws {TuttiError} BAD_REQUEST naming every wish that cannot be met.
 */
export function taskWishes(request: TaskRequest): TaskWishes {
  const { deadline, delivery, cachePolicy, cacheKey, maxAge } = request
  const deadlineMs = deadline === undefined ? undefined : durationMs(deadline)
  const maxAgeMs = ageMs(maxAge)
  const method = delivery?.method ?? 'WEBSOCKET'
  const problems: Problem[] = []
  if (deadline !== undefined && !isLength(deadlineMs)) {
    problems.push({ path: '/deadline', message: `${LENGTH}, got "${deadline}"` })
  }
  if (maxAgeMs === undefined) {
    problems.push({ path: '/maxAge', message: `${LENGTH}, got "${maxAge}"` })
  }
  if (!METHODS.includes(method)) {
    const message = `must be ${METHODS.join(' or ')}: this server delivers in no other way, got "${method}"`
    problems.push({ path: '/delivery/method', message })
  }
  if (cachePolicy === 'USE_CACHED' && cacheKey === undefined) {
    problems.push({ path: '/cacheKey', message: 'is required with the cache policy USE_CACHED' })
  }
  if (problems.length > 0) throw badRequest('Message', problems)
  return {
    reports: method !== 'NONE',
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(cacheKey === undefined ? {} : { cacheKey }),
    ...(cachePolicy !== 'USE_CACHED' || maxAgeMs === undefined ? {} : { maxAgeMs }),
  }
}

const LENGTH = 'must be longer than 0 and count no months or years'

function isLength(ms: number | undefined): boolean {
  return ms !== undefined && ms > 0
}

/** Seconds or a duration; any age when nothing is said; undefined when it has no length. */
function ageMs(maxAge: TaskRequest['maxAge']): number | undefined {
  if (maxAge === undefined) return Infinity
  return typeof maxAge === 'number' ? maxAge * 1_000 : durationMs(maxAge)
}
