/** A process without runs, over a store that counts what the process asks. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { fakeClock } from '@tutti/testing'

import { fakeStorage } from './fake-storage.ts'
import { turns } from './turns.ts'

import type { Clock } from '@tutti/core'
import type { Dispatcher, RunStorage } from '@tutti/runs/adapter'

/** Each process also polls the connection on which it listens, every two minutes. */
const LISTENER_POLLS_PER_SECOND = 1 / 120

/** The statements of one process of a fleet after its start. */
export interface IdleLoad {
  /** Number of statements per second. */
  readonly perSecond: number
  /** Longest time between two claims, in milliseconds. */
  readonly longestGapMs: number
  /** The names of the methods that were called. */
  readonly methods: ReadonlySet<string>
}

/** Lets one of `processes` idle. `dispatch` returns the dispatcher over that of the store. */
export async function measureIdleProcess(
  { processes, seconds }: { readonly processes: number; readonly seconds: number },
  dispatch: (store: Dispatcher, clock: Clock) => Dispatcher = (store) => store,
): Promise<IdleLoad> {
  const clock = fakeClock()
  const calls: { readonly method: string; readonly at: number }[] = []
  const count =
    <T>(method: string, result: T) =>
    (): Promise<T> => {
      calls.push({ method, at: clock.elapsed() })
      return Promise.resolve(result)
    }
  const store = fakeStorage({
    queue: {
      take: count('take', []),
      renew: count('renew', []),
      fleet: { processes, pollers: processes },
      hasStranded: false,
    },
    runs: { deleteEnded: count('deleteEnded', []) },
  })
  const storage: RunStorage = {
    ...store,
    dispatcher: dispatch(store.dispatcher, clock),
    // NOTE: an idle process only uses these methods.
    threads: { deleteEmpty: count('deleteEmpty', []) } as Partial<RunStorage['threads']> as never,
    builds: {
      register: count('register', undefined),
      findStranded: count('findStranded', []),
      living: count('living', []),
    } as Partial<RunStorage['builds']> as never,
  }
  const work = task({ name: 'play', description: 'Play', handler: String })
  const service = createRunService(storage, [ensemble({ name: 'band', tasks: [work] })], { clock })
  await service.start()
  await turns()
  const first = calls.length
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(1_000)
    await turns(2)
  }
  const later = calls.slice(first)
  const claims = later.filter(({ method }) => method === 'take').map(({ at }) => at)
  await service.close({ drainTimeoutMs: 0 })
  return {
    perSecond: later.length / seconds + LISTENER_POLLS_PER_SECOND,
    longestGapMs: Math.max(...claims.slice(1).map((at, index) => at - (claims[index] ?? 0))),
    methods: new Set(later.map(({ method }) => method)),
  }
}
