/** Starts services over stores, and reads their runs. */
import { builtPackage } from './built.ts'
import { openStorage, type StoreLocation } from './runs-locations.ts'
import { nowMs } from './runs-teams.ts'

import type { Ensemble } from '../../../packages/ensemble/src/index.ts'
import type { LoggedRunEvent, RunStatus } from '../../../packages/protocol/src/index.ts'
import type { RunService, RunServiceOptions } from '../../../packages/runs/src/index.ts'

type RunsDoor = typeof import('../../../packages/runs/src/index.ts')

/** A started service; disposing releases its runs. */
export interface OpenService extends AsyncDisposable {
  readonly service: RunService
}

/** Starts a service over a store. */
export async function openService(
  location: StoreLocation,
  team: Ensemble,
  options: RunServiceOptions = {},
): Promise<OpenService> {
  const { createRunService } = await builtPackage<RunsDoor>('runs')
  const service = createRunService(await openStorage(location), [team], options)
  await service.start()
  return { service, [Symbol.asyncDispose]: () => service.close({ drainTimeoutMs: 0 }) }
}

/** Waits for the end of a run. @throws {Error} when it does not end in one of `statuses`. */
export async function awaitEnd(
  service: RunService,
  runId: string,
  statuses: readonly RunStatus[] = ['COMPLETED'],
): Promise<void> {
  for await (const events of service.follow({ runId, from: 0 })) {
    const last = events.at(-1)
    if (last?.type === 'run_result' && !statuses.includes(last.status)) {
      throw new Error(`Run ${runId} ended ${last.status}: ${last.error}`)
    }
  }
}

/** Reads one run from its beginning. */
export interface Watch {
  /** Waits for the first matching event and returns its time of arrival, by `nowMs`. */
  cameAt(match: (event: LoggedRunEvent) => boolean): Promise<number>
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>
}

/** Reads a run in the background. */
export function watchRun(service: RunService, runId: string): Watch {
  const seen: { readonly event: LoggedRunEvent; readonly atMs: number }[] = []
  let arrival = Promise.withResolvers<void>()
  const read = async (): Promise<void> => {
    for await (const events of service.follow({ runId, from: 0 })) {
      const atMs = nowMs()
      seen.push(...events.map((event) => ({ event, atMs })))
      arrival.resolve()
      arrival = Promise.withResolvers<void>()
    }
    // There may be no waiting caller.
    arrival.promise.catch(() => undefined)
    arrival.reject(new Error(`Run ${runId} has ended`))
  }
  return {
    async cameAt(match) {
      for (;;) {
        const found = seen.find(({ event }) => match(event))
        if (found !== undefined) return found.atMs
        await arrival.promise
      }
    },
    ended: read(),
  }
}
