/** Starts server processes with the config `fixtures/crew.config.ts`, and controls their runs. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** The lease of the config, in milliseconds. */
export const LEASE_MS = 4_000

/** The drain time of the config, in milliseconds. */
export const DRAIN_MS = 3_000

/** Options of `expect.poll`: a multiple of the time that a poll usually takes. */
export const POLLING = { timeout: 60_000, interval: 20 }

const CONFIG = fileURLToPath(new URL('./fixtures/crew.config.ts', import.meta.url))

/** A recorded start or end of a tool call. */
export interface Step {
  readonly what: 'begin' | 'end'
  readonly n: number
  readonly pid: number
}

/** Controls the tool of the crew, and reads its recorded calls. */
export interface StepRecorder extends Disposable {
  /** Directory of the recorded calls, and of the data in its folder `data`. */
  readonly directory: string
  /** Starts a server process. */
  start(environment: Record<string, string>): Promise<ServerProcess>
  /** Starts a process that is expected to fail. */
  refused(environment: Record<string, string>): ReturnType<typeof ServerProcess.refused>
  /** Holds call number `n` of every run between its start and its end. */
  hold(n: number): void
  /** Releases call number `n` of every run. */
  release(n: number): void
  steps(runId: string): readonly Step[]
  /** Waits until call number `n` of a run has started in a process not in `except`. Returns the process id. */
  untilBegun(runId: string, n: number, except?: readonly number[]): Promise<number>
}

/** Creates the directory and the controls of a crew. */
export function recordSteps(): StepRecorder {
  const directory = temporaryDirectory()
  const file = (name: string): string => join(directory.path, name)
  const variables = (environment: Record<string, string>) => ({
    TUTTI_CONFIG: CONFIG,
    TUTTI_DATA_DIR: file('data'),
    CREW_DIR: directory.path,
    ...environment,
  })
  const steps = (runId: string): readonly Step[] => {
    if (!existsSync(file('steps'))) return []
    const lines = readFileSync(file('steps'), 'utf8').trim().split('\n')
    return lines.flatMap((line) => {
      const [of, what, n, pid] = line.split(' ')
      return of === runId
        ? [{ what: what === 'end' ? 'end' : 'begin', n: Number(n), pid: Number(pid) }]
        : []
    })
  }
  return {
    directory: directory.path,
    start: (environment) => ServerProcess.start(variables(environment)),
    refused: (environment) => ServerProcess.refused(variables(environment)),
    hold: (n) => writeFileSync(file(`hold-${n}`), ''),
    release: (n) => rmSync(file(`hold-${n}`)),
    steps,
    async untilBegun(runId, n, except = []) {
      const begun = () =>
        steps(runId).find(
          (step) => step.what === 'begin' && step.n === n && !except.includes(step.pid),
        )
      await expect.poll(begun, POLLING).toBeDefined()
      return begun()?.pid ?? 0
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

/** Submits a run to a process. */
export async function submit(server: ServerProcess, ensemble = 'crew'): Promise<string> {
  const { runId } = await server.client().runs.submit({ ensemble, inputs: { topic: 'tea' } })
  return runId
}

/** Reads the events of a run to its end. Fails if they have a gap, or not exactly one result. */
export async function readEvents(
  server: ServerProcess,
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  const events: LoggedRunEvent[] = []
  for await (const event of server.client().runs.events(runId)) events.push(event)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(events.filter(({ type }) => type === 'run_result')).toHaveLength(1)
  return events
}

/** Returns the numbers of the calls with this record, in order. */
export function numbers(steps: readonly Step[], what: Step['what']): readonly number[] {
  return steps.flatMap((step) => (step.what === what ? [step.n] : []))
}

/** Waits until a run waits for a review. Returns the review. */
export async function untilReviewed(server: ServerProcess, runId: string) {
  const { reviews, runs } = server.client()
  await expect.poll(async () => (await runs.get(runId)).status, POLLING).toBe('WAITING_REVIEW')
  const [review] = (await reviews.list({ runId })).reviews
  if (review === undefined) throw new Error('The run waits for a review, but the list has none')
  return review
}
