/**
 * Adds to the log of a fork what its request gives it.
 *
 * RUNS-E6 A fork has the provided directives and outputs from its beginning. They are stored in the transaction that
 *    creates it, and are checked before: one error names every problem.
 */
import { TuttiError } from '@tutti/core'
import type { Ensemble } from '@tutti/ensemble'
import { applyToUnowned, readGivenResults, type RunStep } from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'
import { assertNoProblems } from '../request/refusals.ts'

import type { ForkRequest } from './fork-request.ts'
import type { ForkSource } from './fork-log.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { ForkedLog } from '../ports/run-store.ts'
import type { RunEvent } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

/** Results and directives for a fork, and the log that it continues from. */
export interface GivenToFork extends Pick<ForkRequest, 'results' | 'directives'> {
  /** Id of the fork. */
  readonly runId: string
  readonly ensemble: Ensemble
  readonly source: ForkSource
}

/** Settings of the service that apply to forks. */
export type ForkServiceSettings = Pick<
  ResolvedRunServiceOptions,
  'clock' | 'models' | 'profiles' | 'redact' | 'maxInputBytes'
>

/**
 * Returns the log of a fork with its directives and outputs.
 *
 * @throws {TuttiError} BAD_REQUEST naming every problem; INPUT_TOO_LARGE for outputs; INVALID_MODEL for a directive.
 */
export async function addGiven(
  given: GivenToFork,
  settings: ForkServiceSettings,
): Promise<ForkedLog> {
  const { source, ensemble, results = {} } = given
  const { fork, copied } = source
  assertResultSize(results, settings)
  const known = [...copied, ...fork.steps]
  const outputs = await readGivenResults(ensemble, results, known)
  const directed = await applyDirectives(given, settings, [...known, ...outputs.steps])
  assertNoProblems('', [
    ...outputs.problems.map(({ path, message }) => ({ path: `/results${path}`, message })),
    ...directed.problems,
  ])
  return {
    ...fork,
    events: [...fork.events, ...directed.events.map((event) => settings.redact(event))],
    steps: [...fork.steps, ...outputs.steps, ...directed.steps],
    // A fork of this run at `run_forked` has the outputs, and each directive from its own event on.
    stepEvents: [
      ...fork.steps.map(() => 0),
      ...outputs.steps.map(() => 0),
      ...directed.stepEvents.map((index) => fork.events.length + index),
    ],
  }
}

/** Events and steps of directives, with the index of the event of each step. */
interface DirectedLog {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
  readonly stepEvents: number[]
  readonly problems: Problem[]
}

async function applyDirectives(
  { runId, ensemble, directives = [] }: GivenToFork,
  { clock, models, profiles }: ForkServiceSettings,
  steps: readonly RunStep[],
): Promise<DirectedLog> {
  const log: DirectedLog = { events: [], steps: [], stepEvents: [], problems: [] }
  // Directives depend on the steps of the run, not on those of its tasks.
  const ofRun = steps.filter((step) => !('attempt' in step))
  for (const [index, directive] of directives.entries()) {
    const run = {
      runId,
      steps: [...ofRun, ...log.steps],
      findRequest: () => Promise.resolve(undefined),
      ...field('models', models),
      profiles,
      clock,
    }
    try {
      const applied = await applyToUnowned(ensemble, run, { kind: 'inject', directive })
      log.events.push(...applied.events)
      log.steps.push(...applied.steps)
      log.stepEvents.push(...applied.steps.map(() => log.events.length - 1))
    } catch (error) {
      if (!TuttiError.isInstance(error) || error.code !== 'BAD_REQUEST') throw error
      log.problems.push({ path: `/directives/${index}`, message: error.message })
    }
  }
  return log
}

function assertResultSize(
  results: NonNullable<ForkRequest['results']>,
  { maxInputBytes }: ForkServiceSettings,
): void {
  const bytes = Buffer.byteLength(JSON.stringify(results))
  if (bytes <= maxInputBytes) return
  throw new TuttiError(
    'INPUT_TOO_LARGE',
    `The provided results have ${bytes} bytes, at most ${maxInputBytes} are allowed (maxInputBytes)`,
    { details: { bytes, maxBytes: maxInputBytes, limit: 'maxInputBytes' } },
  )
}
