/** Server processes on the config of `fixtures/crew.config.ts`, and what a test does with its runs. */
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

/** How long a poll goes on before the test fails: many times what it takes. */
export const POLLING = { timeout: 30_000, interval: 20 }

const CONFIG = fileURLToPath(new URL('./fixtures/crew.config.ts', import.meta.url))

/** One call of the tool, as it noted itself. */
export interface Step {
  readonly what: 'begin' | 'end'
  readonly n: number
  readonly pid: number
}

/** Where the tool of the crew notes its calls, and what it waits for. */
export interface StepRecorder extends Disposable {
  /** Starts a process of that crew. */
  start(environment: Record<string, string>): Promise<ServerProcess>
  /** The same, for a process that is expected to refuse. */
  refused(environment: Record<string, string>): ReturnType<typeof ServerProcess.refused>
  /** Has call number `n` of every run wait between its beginning and its end, until it is let go. */
  hold(n: number): void
  letGo(n: number): void
  steps(runId: string): readonly Step[]
  /** Waits until call number `n` of a run has begun, in a process not of `except`; gives the process. */
  untilBegun(runId: string, n: number, except?: readonly number[]): Promise<number>
}

/** Makes a crew. */
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
    start: (environment) => ServerProcess.start(variables(environment)),
    refused: (environment) => ServerProcess.refused(variables(environment)),
    hold: (n) => writeFileSync(file(`hold-${n}`), ''),
    letGo: (n) => rmSync(file(`hold-${n}`)),
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

/** The events of a run to its end, which have no gap and one result. */
export async function eventsOf(
  server: ServerProcess,
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  const events: LoggedRunEvent[] = []
  for await (const event of server.client().runs.events(runId)) events.push(event)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(events.filter(({ type }) => type === 'run_result')).toHaveLength(1)
  return events
}

/** The numbers of the calls that noted this, in order. */
export function numbers(steps: readonly Step[], what: Step['what']): readonly number[] {
  return steps.flatMap((step) => (step.what === what ? [step.n] : []))
}

/** Waits until a run waits for a person; gives the review. */
export async function untilReviewed(server: ServerProcess, runId: string) {
  const { reviews, runs } = server.client()
  await expect.poll(async () => (await runs.get(runId)).status, POLLING).toBe('WAITING_REVIEW')
  const [review] = (await reviews.list({ runId })).reviews
  if (review === undefined) throw new Error('The run waits, and there is no review')
  return review
}
