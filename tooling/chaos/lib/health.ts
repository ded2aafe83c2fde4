/** Checks what a process says about its health during a fault of its store, and after it. */
import { setTimeout as sleep } from 'node:timers/promises'

import type { FaultKind } from './plan.ts'
import type { Member } from './fleet.ts'

/** Replies of a process about its health. */
export interface HealthCheck {
  readonly name: string
  readonly kind: FaultKind
  /** Expected HTTP status of the readiness check at that time: 503 during a fault, 200 after it. */
  readonly wanted: 200 | 503
  /** HTTP status of its last reply about its readiness; 0 for none. */
  readonly ready: number
  /** HTTP statuses of its replies about its liveness. */
  readonly live: readonly number[]
}

/** Time after which a wrong readiness is a violation, in milliseconds: a multiple of what a slow machine needs. */
const LIMIT_MS = 60_000

/** Timeout of a request, and interval of attempts, in milliseconds. */
const TRY_MS = 5_000
const LOOK_MS = 100

/**
 * Sends writes to a process until its readiness is the wanted one, or the time is over. Returns undefined if the process
 * has ended meanwhile.
 */
export async function checkHealth(
  member: Member,
  kind: FaultKind,
  wanted: 200 | 503,
): Promise<HealthCheck | undefined> {
  const { name, pid, url } = member
  const live = new Set<number>()
  const until = performance.now() + LIMIT_MS
  for (;;) {
    // Some faults are only noticed by a write.
    const [, readiness, liveness] = await Promise.all([
      statusOf(`${url}/api/threads`, '{}'),
      statusOf(`${url}/api/health/ready`),
      statusOf(`${url}/api/health/live`),
    ])
    if (member.pid !== pid || !member.isReady) return undefined
    if (liveness !== 0) live.add(liveness)
    if (readiness === wanted || performance.now() > until) {
      return { name, kind, wanted, ready: readiness, live: [...live] }
    }
    await sleep(LOOK_MS)
  }
}

async function statusOf(url: string, body?: string): Promise<number> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(TRY_MS),
      ...(body === undefined
        ? {}
        : { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    })
    await response.body?.cancel()
    return response.status
  } catch {
    return 0
  }
}
