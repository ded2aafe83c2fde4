/** The ensemble whose runs take part in generated races for waits. */
import { Type } from '@tutti/core'
import { ensemble, task, type HandlerContext } from '@tutti/ensemble'

/** One wait of a handler. */
export interface PlannedWait {
  /** Keys of the events that end it; none for a sleep. */
  readonly keys: readonly string[]
  /** Whether each key has a separate wait, all at the same time. */
  readonly areAll: boolean
  readonly timeoutMs?: number
  readonly isReviewed: boolean
}

/** Name of all events of a race. */
export const NAME = 'go'

const Data = Type.Object({ n: Type.Integer() })

/** The ensemble of all races. */
export const RACING = ensemble({
  name: 'racing',
  inputs: ['waits'],
  tasks: [
    task({
      name: 'wait',
      description: 'Wait',
      async handler({ waitFor, sleep, inputs }: HandlerContext) {
        // NOTE: the inputs are those of `WaitRace`.
        const waits = JSON.parse(inputs['waits'] ?? '[]') as readonly PlannedWait[]
        const outcomes: unknown[] = []
        for (const { keys, areAll, timeoutMs, isReviewed } of waits) {
          const options = {
            schema: Data,
            review: isReviewed,
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          }
          const toEvent = (key: string) => ({ name: NAME, key })
          if (keys.length === 0) await sleep(timeoutMs ?? 1)
          else if (areAll) {
            outcomes.push(...(await Promise.all(keys.map((key) => waitFor(toEvent(key), options)))))
          } else outcomes.push(await waitFor({ any: keys.map(toEvent) }, options))
        }
        return outcomes
      },
    }),
  ],
})

/** Options of the services of a race. Leases are as short as they can be, because tests wait for them in real time. */
export const RACE_SETTINGS = {
  pollMs: 20,
  leaseMs: 1_000,
  maxConcurrentRuns: 12,
  maxLostOwners: 99,
} as const
