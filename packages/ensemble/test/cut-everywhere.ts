/**
 * Cuts a run off after every one of its journal writes, goes on with what was durable in another
 * process, and checks that both parts add up to the run in one piece: rules ENS-E6 and ENS-E16. Then lets it stand
 * still after every write before another process goes on, and checks that nothing was done twice: ENS-E17.
 *
 *   whole run: N writes      for each n < N: process 1 writes n ─▶ steps, as JSON ─▶ process 2 … ─▶ end
 *
 * A process that is cut off takes no further write: its commits never resolve, its clock stands still.
 */
import { TuttiError } from '@tutti/core'
import { applyRunEvent, runStateAfter, type RunEvent, type RunState } from '@tutti/protocol'
import { expect } from 'vitest'

import { expectSameEnd, expectSameState } from './run-state.ts'
import { randomNumbers } from './task-graphs.ts'
import { phasesAfter } from './task-phases.ts'
import { fakeClock, type FakeClock } from './testing.ts'
import { eventsOf, expectWireEvents, nextTurn } from './watch-run.ts'

import type {
  Ensemble,
  RunHandle,
  RunJournal,
  RunOptions,
  RunResult,
  RunStep,
  StepOf,
} from '../src/index.ts'

/** What is outside of the processes of one run: it sees all that they do, and stays. */
export interface World {
  /** Calls of tools and handlers that began, as they call themselves, in order. */
  readonly calls: WorldCall[]
  /** Ids of the reviews that a reviewer was asked, in order. */
  readonly asked: string[]
  /** Whatever else a scenario keeps outside, such as a memory store. */
  readonly kept: Map<string, unknown>
}

/** A call that reached the world. */
export interface WorldCall {
  readonly process: number
  readonly name: string
  readonly key: string
}

/** One process of a run. */
export interface Process {
  readonly clock: FakeClock
  readonly world: World
  /** From 1. */
  readonly number: number
  /** Notes a call of a tool or a handler. */
  readonly call: (name: string, key: string) => void
}

/** Something that somebody asks of the run when an event is seen, once. */
export interface Wish {
  readonly when: (event: RunEvent) => boolean
  readonly ask: (handle: RunHandle) => void
  /** Whether this step keeps it. */
  readonly isKept: (step: RunStep) => boolean
}

/** A run that can be cut off anywhere. */
export interface Scenario {
  /** The ensemble and the surroundings of its run, as each process makes them anew. */
  readonly open: (process: Process) => { readonly team: Ensemble; readonly options?: RunOptions }
  readonly wishes?: readonly Wish[]
  /** Names of tools that are not idempotent: a call that was cut off changes what the model is told. */
  readonly once?: readonly string[]
  /** How it may end when such a call was cut off. @default as the run in one piece */
  readonly mayEnd?: readonly RunResult['status'][]
  /**
   * Whether its tasks race, so that it tells another story when what is in flight ends while others rest.
   * @default false
   */
  readonly races?: boolean
  /** Checks what is special about it, at the end of every run. */
  readonly check?: (end: ScenarioEnd) => void
}

/** What came of a run, over all its processes. */
export interface ScenarioEnd {
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  readonly result: RunResult
  readonly world: World
  /** Whether a call that must not be repeated was cut off. */
  readonly inDoubt: boolean
}

interface Durable {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
  writes: number
  /** When the last of them was, in milliseconds since 1970. */
  at: number
}

/** Longer than any scenario takes, in milliseconds. */
const LONG_ENOUGH = 100_000

/** Runs the scenario whole, then cut off after each of its writes, some of them cut off again. */
export async function cutEverywhere(scenario: Scenario): Promise<ScenarioEnd> {
  const whole = await runInPieces(scenario, [])
  const { writes } = whole
  const random = randomNumbers(writes)
  const cuts = Array.from({ length: writes }, (_, at) => at)
  const ends = await Promise.allSettled(
    cuts.flatMap((at) => [
      standAt(scenario, whole, [{ still: at }]),
      ...(at % 5 === 2 ? [standAt(scenario, whole, [{ still: at }, { still: 3 }])] : []),
      cutAt(scenario, whole, [at]),
      ...(at % 2 === 0 ? [cutAt(scenario, whole, [at, 1 + Math.floor(random() * 6)])] : []),
      ...(at % 6 === 1 ? [cutAt(scenario, whole, [at, 1, 1 + Math.floor(random() * 4), 2])] : []),
    ]),
  )
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  const first = failures[0]
  if (first === undefined) return whole
  throw new Error(
    `${failures.length} of ${ends.length} cuts failed: ${failures.slice(0, 3).map(String).join('; ')}`,
    { cause: first.cause },
  )
}

async function cutAt(
  scenario: Scenario,
  whole: ScenarioEnd,
  sizes: readonly number[],
): Promise<void> {
  try {
    const end = await runInPieces(scenario, sizes)
    expectSameStory(whole, end, scenario)
  } catch (error) {
    throw new Error(`Cut after ${sizes.join(', then ')}: ${String(error)}`, { cause: error })
  }
}

/** Writes after which a process is cut off, or is asked to stand still and then let go. */
export type PieceSize = number | { readonly still: number }

async function standAt(
  scenario: Scenario,
  whole: ScenarioEnd,
  sizes: readonly PieceSize[],
): Promise<void> {
  try {
    const end = await runInPieces(scenario, sizes)
    expect(end.inDoubt).toBe(false)
    const done = doneIn(end)
    if (scenario.races === true) {
      expect(new Set(done).size).toBe(done.length)
      return
    }
    expectSameStory(whole, end, scenario)
    expect(done).toEqual(doneIn(whole))
  } catch (error) {
    throw new Error(`Stood still at ${JSON.stringify(sizes)}: ${String(error)}`, { cause: error })
  }
}

/** Every call of a tool and a handler, and every model call, also those that were made in vain. */
function doneIn({ world, events }: ScenarioEnd): readonly string[] {
  const turns = eventsOf(events, 'llm_iteration_started').map(
    ({ taskName, attempt, iterationIndex }) => `${taskName}/${attempt}/${iterationIndex}`,
  )
  return [...world.calls.map(({ key }) => key), ...turns].toSorted()
}

/** Runs a scenario in as many processes as there are sizes, and one more; each takes so many writes. */
export async function runInPieces(
  scenario: Scenario,
  sizes: readonly PieceSize[],
): Promise<ScenarioEnd & { readonly writes: number }> {
  const world: World = { calls: [], asked: [], kept: new Map() }
  const durable: Durable = { events: [], steps: [], writes: 0, at: Date.UTC(2026, 0, 1) }
  let inDoubt = false
  for (const [index, size] of [...sizes, Infinity].entries()) {
    const clock = fakeClock(durable.at)
    const number = index + 1
    const callCount = world.calls.length
    const process: Process = {
      clock,
      world,
      number,
      call: (name, key) => world.calls.push({ process: number, name, key }),
    }
    const earlier: Durable = JSON.parse(JSON.stringify(durable))
    const done = await runPiece(scenario, { process, durable, size })
    if (number > 1) expectNothingRepeated(earlier, durable, world.calls.slice(callCount))
    inDoubt ||= done === undefined && isInDoubt(durable.steps)
    if (done === undefined) continue
    const { events, steps, writes } = durable
    const end = { events, steps, writes, result: done, world, inDoubt }
    expectWireEvents(events)
    phasesAfter(events)
    expectSameEnd(events, done)
    scenario.check?.(end)
    return end
  }
  throw new Error('The last process did not end the run')
}

interface Piece {
  readonly process: Process
  readonly durable: Durable
  /** Writes that the process takes before it is cut off, or stands still. */
  readonly size: PieceSize
}

/** Runs one process until it ends the run, or until nothing happens in it any more. */
async function runPiece(
  scenario: Scenario,
  { process, durable, size }: Piece,
): Promise<RunResult | undefined> {
  const { clock, number } = process
  const { team, options } = scenario.open(process)
  const steps: readonly RunStep[] = JSON.parse(JSON.stringify(durable.steps))
  const open = (scenario.wishes ?? []).filter((wish) => !steps.some(wish.isKept))
  const due = open.filter((wish) => durable.events.some(wish.when))
  const waiting = new Set(open.filter((wish) => !due.includes(wish)))
  let left = typeof size === 'number' ? size : Infinity
  let untilStill = typeof size === 'number' ? Infinity : size.still
  const controller = new AbortController()
  const drain = (): void => {
    void handle.drain().then(() => {
      left = 0
      controller.abort(new TuttiError('INTERRUPTED', 'Let go'))
    })
  }
  let failure: unknown
  let isDue = false
  let state = runStateAfter(durable.events)
  const write = (event: RunEvent | undefined, step: RunStep | undefined): boolean => {
    if (left <= 0) return false
    left -= 1
    untilStill -= 1
    durable.writes += 1
    if (untilStill === 0) queueMicrotask(drain)
    durable.at = clock.now()
    if (event !== undefined) {
      durable.events.push(event)
      state = applyRunEvent(state, event)
    }
    if (step !== undefined) durable.steps.push(step)
    for (const wish of waiting) {
      if (event === undefined || !wish.when(event)) continue
      waiting.delete(wish)
      queueMicrotask(() => {
        wish.ask(handle)
      })
    }
    if (!isDue) setImmediate(compare)
    isDue = true
    return true
  }
  const compare = (): void => {
    isDue = false
    try {
      if (left > 0) expectSameState(state, handle.snapshot())
    } catch (error) {
      failure ??= error
    }
  }
  const journal: RunJournal = {
    emit(event, step) {
      write(event, step)
    },
    commit(step, event) {
      return write(event, step) ? Promise.resolve() : new Promise(() => undefined)
    },
  }
  const handle = team.start(
    {},
    {
      ...options,
      clock,
      journal,
      runId: 'run-1',
      resume: { steps, epoch: number },
      signal: controller.signal,
    },
  )
  if (untilStill === 0) drain()
  for (const wish of due) wish.ask(handle)
  let result: RunResult | undefined
  void handle.result.then((ended) => {
    result = ended
  })
  await clock.advance(LONG_ENOUGH)
  // Hashes are made on another thread, which no clock moves.
  for (let turns = 0; turns < 20 && left > 0 && result === undefined; turns += 1) {
    await nextTurn()
    await clock.advance(100)
  }
  if (failure !== undefined) throw failure
  // What a process comes to that was cut off before is nobody's result.
  return durable.events.at(-1)?.type === 'run_result' ? result : undefined
}

/** No turn, no call and no review that a step holds is done again. */
function expectNothingRepeated(
  earlier: Durable,
  durable: Durable,
  calls: readonly WorldCall[],
): void {
  const events = durable.events.slice(earlier.events.length)
  const turnOf = (of: Pick<StepOf<'model_turn'>, 'taskName' | 'attempt' | 'iterationIndex'>) =>
    `${of.taskName}/${of.attempt}/${of.iterationIndex}`
  const answered = new Set(
    earlier.steps.flatMap((step) => (step.kind === 'model_turn' ? turnOf(step) : [])),
  )
  const askedAgain = eventsOf(events, 'llm_iteration_started').map(turnOf)
  expect(askedAgain.filter((turn) => answered.has(turn))).toEqual([])
  const ended = new Set(
    eventsOf(earlier.events, 'tool_called').map(
      (event) => `run-1/${turnOf(event)}/${event.toolCallId}`,
    ),
  )
  expect(calls.map(({ key }) => key).filter((key) => ended.has(key))).toEqual([])
}

/** Whether the process was cut off in a call that must not be repeated. */
function isInDoubt(steps: readonly RunStep[]): boolean {
  const open = steps.filter((step) => step.kind === 'tool_begun')
  return open.some(
    (begun) =>
      !steps.some(
        (step) =>
          step.kind === 'tool_ended' &&
          step.taskName === begun.taskName &&
          step.attempt === begun.attempt &&
          step.iterationIndex === begun.iterationIndex &&
          step.position === begun.position,
      ),
  )
}

/** Checks that a run in pieces is the run in one piece. */
function expectSameStory(
  whole: ScenarioEnd,
  end: ScenarioEnd,
  { once = [], mayEnd = [] }: Scenario,
): void {
  const callsOf = (name: string): readonly string[] =>
    end.world.calls.filter((call) => call.name === name).map(({ key }) => key)
  for (const name of once) expect(new Set(callsOf(name)).size).toBe(callsOf(name).length)
  const keys = new Set(whole.world.calls.map(({ key }) => key))
  expect(end.world.calls.map(({ key }) => key).filter((key) => !keys.has(key))).toEqual([])
  if (end.inDoubt && mayEnd.includes(end.result.status)) return
  expect(end.result.status).toBe(whole.result.status)
  if (end.inDoubt) return
  expect(storyOf(end)).toEqual(storyOf(whole))
}

/** When a directive was given, as a prompt says it. */
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** What must be the same however often a run was cut off; times and random ids are not. */
function storyOf({ events, result }: ScenarioEnd): object {
  const state = runStateAfter(events)
  return {
    output: result.output,
    metrics: rounded(result.metrics),
    error: result.error?.code,
    tasks: state.tasks.map((task) => ({
      name: task.name,
      index: task.index,
      status: task.status,
      attempt: task.attempt,
      description: task.description,
      output: task.output,
      structured: task.structuredOutput,
      error: task.status === 'CANCELLED' ? task.error?.code : task.error,
      usage: { ...task.usage, costUsd: task.usage.costUsd?.toFixed(9) },
      earlier: task.earlierAttempts.map(({ reason, code }) => ({ reason, code })),
      // What was in flight when its task was cut off may have been in flight twice, or not at all.
      turns: task.turns
        .filter(isAnswered)
        .map(({ iterationIndex, status, text, model, messages, toolCalls }) => ({
          iterationIndex,
          status,
          text,
          model,
          messages: messages.map(({ content, ...message }) => ({
            ...message,
            content: content?.replaceAll(INSTANT, 'then'),
          })),
          calls: toolCalls.map((call) => [call.id, call.name, call.status, call.result]),
        })),
    })),
    reviews: state.reviews.map(({ taskName, timing, attempt, status, decision, feedback }) => ({
      taskName,
      timing,
      attempt,
      status,
      decision,
      feedback,
    })),
    directives: state.directives.map(({ content, delivered }) => ({
      content,
      delivered: delivered
        .map(({ taskName, attempt, iterationIndex }) => `${taskName}/${attempt}/${iterationIndex}`)
        .toSorted(),
    })),
    delegations: state.delegations.map(({ workerTask, status, reason }) => ({
      workerTask,
      status,
      reason,
    })),
  }
}

function isAnswered({ status }: RunState['tasks'][number]['turns'][number]): boolean {
  return status === 'COMPLETED'
}

function rounded(metrics: RunResult['metrics']): object {
  const { costEstimate, ...counts } = metrics
  if (costEstimate === undefined) return counts
  const { inputCost, outputCost } = costEstimate
  return { ...counts, inputCost: inputCost.toFixed(9), outputCost: outputCost.toFixed(9) }
}
