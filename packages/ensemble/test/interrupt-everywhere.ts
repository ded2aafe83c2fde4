/**
 * Interrupts a run after every one of its journal writes, resumes it in another process with what was
 * durable, and checks that both parts add up to an uninterrupted run: rules ENS-E6 and ENS-E16. Then drains
 * it after every write before another process resumes, and checks that no work was repeated: ENS-E17.
 *
 *   whole run: N writes      for each n < N: process 1 writes n ─▶ steps, as JSON ─▶ process 2 … ─▶ end
 *
 * An interrupted process makes no further write: its commits never resolve, and its clock stops.
 */
import { TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import {
  applyRunEvent,
  runStateAfter,
  type RunEvent,
  type RunEventOf,
  type RunState,
} from '@tutti/protocol'
import { expect } from 'vitest'

import { expectSameEnd, expectSameState } from './run-state.ts'
import { toComparableLog } from './same-log.ts'
import { createRandom } from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'
import { fakeClock, type FakeClock } from './testing.ts'
import { eventsOf, expectWireEvents, nextTurn } from './watch-run.ts'

import type { DeliveredEvent, Ensemble, RunHandle, RunOptions, RunResult } from '../src/index.ts'
import type { RunJournal, RunStep, StepOf } from '../src/internal.ts'
import type { AwaitedEvent, ReplayMode } from '@tutti/protocol/internal'

/** External state of one run, which all its processes share. */
export interface World {
  /** Calls of tools and handlers that began, in order. */
  readonly calls: WorldCall[]
  /** Ids of the reviews that the reviewer received, in order. */
  readonly asked: string[]
  /** Other external state of a scenario, such as a memory store. */
  readonly stored: Map<string, unknown>
}

/** A call with an external effect. */
export interface WorldCall {
  readonly process: number
  readonly name: string
  readonly key: string
}

/** One process of a run. */
export interface Process {
  readonly clock: FakeClock
  readonly world: World
  /** Number of the process, from 1. */
  readonly number: number
  /** Records a call of a tool or a handler. */
  readonly call: (name: string, key: string) => void
}

/** A command that is sent once, when an event occurs. */
export interface ScenarioCommand {
  readonly when: (event: RunEvent) => boolean
  readonly send: (handle: RunHandle) => void
  /** Whether this step records the command. */
  readonly isRecorded: (step: RunStep) => boolean
}

/** A run that can be interrupted at any write. */
export interface Scenario {
  /** Creates the ensemble and the run options in each process. */
  readonly open: (process: Process) => { readonly team: Ensemble; readonly options?: RunOptions }
  readonly commands?: readonly ScenarioCommand[]
  /** Returns the external event that ends a wait; undefined if its time ends it. @default no event arrives */
  readonly eventFor?: (awaited: AwaitedEvent) => DeliveredEvent | undefined
  /** Log of the run before its first process, as in a fork. @default empty */
  readonly earlier?: { readonly events: readonly RunEvent[]; readonly steps: readonly RunStep[] }
  /** Mode in which the run replays the steps in `earlier`. @default none */
  readonly replay?: ReplayMode
  /** Names of tools that are not idempotent; an interrupted call of one changes what the model receives. */
  readonly once?: readonly string[]
  /**
   * Statuses with which the run can end after such an interruption. @default that of the uninterrupted run
   */
  readonly mayEnd?: readonly RunResult['status'][]
  /**
   * Whether the order of its tasks depends on timing, so that a drained run has a different history. @default
   * false
   */
  readonly races?: boolean
  /** Whether only the order in which its tasks begin depends on timing, and with it their indexes. @default false */
  readonly anyOrder?: boolean
  /** Checks properties of this scenario at the end of every run. */
  readonly check?: (end: ScenarioEnd) => void
}

/** Outcome of a run over all its processes. */
export interface ScenarioEnd {
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  readonly result: RunResult
  readonly world: World
  /** Whether a call that must not be repeated was interrupted. */
  readonly inDoubt: boolean
}

interface Durable {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
  writes: number
  /** Time of the last write, in milliseconds since 1970. */
  at: number
}

/** Maximum number of hashes on other threads that a process waits for. */
const MAX_HASHES = 500

const NO_BYTES = new Uint8Array()

/** Maximum number of turns of the event loop in which a handler gets its recorded results. */
const RESTORING_TURNS = 40

/** Longer than any scenario takes, in milliseconds. */
const LONG_ENOUGH = 100_000

/** Time between two deliveries of an event to a wait that is not open yet, in milliseconds. */
const DELIVERY_MS = 3

/** Maximum number of deliveries of an event. */
const MAX_DELIVERIES = 200

/** Writes after which a run is interrupted. */
export interface Cuts {
  /** Number of writes between two interruptions. @default 1 */
  readonly step?: number
  /** Number of writes before the first one. @default 0 */
  readonly first?: number
}

/**
 * Runs the scenario without interruption, then interrupts it after each of its writes, sometimes more than
 * once.
 */
export async function interruptEverywhere(
  scenario: Scenario,
  { step = 1, first = 0 }: Cuts = {},
): Promise<ScenarioEnd> {
  const whole = await runInProcesses(scenario, [])
  const { writes } = whole
  const random = createRandom(writes)
  const length = Math.max(0, Math.ceil((writes - first) / step))
  const cuts = Array.from({ length }, (_, index) => first + index * step)
  const ends = await Promise.allSettled(
    cuts.flatMap((at) => [
      drainAt(scenario, whole, [{ drainAfter: at }]),
      ...(at % 5 === 2 ? [drainAt(scenario, whole, [{ drainAfter: at }, { drainAfter: 3 }])] : []),
      interruptAt(scenario, whole, [at]),
      ...(at % 2 === 0 ? [interruptAt(scenario, whole, [at, 1 + Math.floor(random() * 6)])] : []),
      ...(at % 6 === 1
        ? [interruptAt(scenario, whole, [at, 1, 1 + Math.floor(random() * 4), 2])]
        : []),
    ]),
  )
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  const failure = failures[0]
  if (failure === undefined) return whole
  throw new Error(
    `${failures.length} of ${ends.length} cuts failed: ${failures.slice(0, 3).map(String).join('; ')}`,
    { cause: failure.cause },
  )
}

async function interruptAt(
  scenario: Scenario,
  whole: ScenarioEnd,
  sizes: readonly number[],
): Promise<void> {
  try {
    const end = await runInProcesses(scenario, sizes)
    expectSameHistory(whole, end, scenario)
  } catch (error) {
    throw new Error(`Cut after ${sizes.join(', then ')}: ${String(error)}`, { cause: error })
  }
}

/** Number of writes after which a process is interrupted, or drained and then released. */
export type ProcessWrites = number | { readonly drainAfter: number }

async function drainAt(
  scenario: Scenario,
  whole: ScenarioEnd,
  sizes: readonly ProcessWrites[],
): Promise<void> {
  try {
    const end = await runInProcesses(scenario, sizes)
    expect(end.inDoubt).toBe(false)
    const done = listWork(end)
    if (scenario.races === true) {
      expect(new Set(done).size).toBe(done.length)
      return
    }
    expectSameHistory(whole, end, scenario)
    expect(done).toEqual(listWork(whole))
  } catch (error) {
    throw new Error(`Drained after ${JSON.stringify(sizes)}: ${String(error)}`, { cause: error })
  }
}

/** Returns every call of a tool or a handler and every model call, including failed ones. */
function listWork({ world, events }: ScenarioEnd): readonly string[] {
  const turns = eventsOf(events, 'llm_iteration_started').map(
    ({ taskName, attempt, iterationIndex }) => `${taskName}/${attempt}/${iterationIndex}`,
  )
  return [...world.calls.map(({ key }) => key), ...turns].toSorted()
}

/** Runs a scenario in one process per size plus one; each size is the number of writes of its process. */
export async function runInProcesses(
  scenario: Scenario,
  sizes: readonly ProcessWrites[],
  { isFork = false } = {},
): Promise<ScenarioEnd & { readonly writes: number }> {
  const world: World = { calls: [], asked: [], stored: new Map() }
  const durable: Durable = {
    events: [...(scenario.earlier?.events ?? [])],
    steps: [...(scenario.earlier?.steps ?? [])],
    writes: 0,
    at: Date.UTC(2026, 0, 1),
  }
  let inDoubt = false
  for (const [index, size] of [...sizes, Infinity].entries()) {
    const clock = fakeClock(durable.at)
    const number = index + 1
    if (isFork && number === 2) appendFork(durable)
    const callCount = world.calls.length
    const process: Process = {
      clock,
      world,
      number,
      call: (name, key) => world.calls.push({ process: number, name, key }),
    }
    const earlier: Durable = JSON.parse(JSON.stringify(durable))
    // A resumed run has the tasks and the questions of a handler when the handler has asked for them again.
    const isRestoring = scenario.anyOrder === true && number > 1
    // The log of a replay does not contain the tasks that it takes from its record.
    const comparesState = !isFork && !isRestoring && scenario.replay === undefined
    const done = await runProcess(scenario, { process, durable, size, comparesState })
    // An interrupted process can still make calls: it notices at its next write.
    const calls = world.calls.slice(callCount).filter((call) => call.process === number)
    if (number > 1) {
      const forkedAt = scenario.replay === undefined ? 0 : findFork(earlier.steps)
      const own = { ...earlier, steps: earlier.steps.slice(forkedAt) }
      expectNothingRepeated(own, durable, calls)
    }
    inDoubt ||= done === undefined && isInDoubt(durable.steps)
    if (done === undefined) continue
    const { events, steps, writes } = durable
    const end = { events, steps, writes, result: done, world, inDoubt }
    expectWireEvents(events)
    readPhasesAfter(events, { isReplay: scenario.replay !== undefined })
    // The totals of a fork and of a replay do not include what their parent has paid for.
    const isPaid = scenario.replay !== undefined || events.some(({ type }) => type === 'run_forked')
    if (!isPaid) expectSameEnd(events, done)
    scenario.check?.(end)
    return end
  }
  const last = durable.events.slice(-25).map((event) => JSON.stringify(event).slice(0, 240))
  throw new Error(`The last process did not end the run; its last events:\n${last.join('\n')}`)
}

function findFork(steps: readonly RunStep[]): number {
  return steps.findIndex(({ kind }) => kind === 'run_forked')
}

/** Adds the event and the step with which a fork begins. */
function appendFork({ events, steps, at }: Durable): void {
  const forkedAt = new Date(at).toISOString()
  events.push({ type: 'run_forked', forkedAt, parentRunId: 'run-0', at: events.length - 1 })
  steps.push({ kind: 'run_forked', runMs: 0, startedAt: at })
}

interface ProcessSettings {
  readonly process: Process
  readonly durable: Durable
  /** Number of writes before the process is interrupted or drained. */
  readonly size: ProcessWrites
  /** Whether the state of the engine is compared with that of its events after each write. */
  readonly comparesState: boolean
}

/** Runs one process until it ends the run, or until it makes no further progress. */
async function runProcess(
  scenario: Scenario,
  { process, durable, size, comparesState }: ProcessSettings,
): Promise<RunResult | undefined> {
  const { clock, number } = process
  const { team, options } = scenario.open(process)
  const steps: readonly RunStep[] = JSON.parse(JSON.stringify(durable.steps))
  const open = (scenario.commands ?? []).filter((command) => !steps.some(command.isRecorded))
  const due = open.filter((command) => durable.events.some(command.when))
  const waiting = new Set(open.filter((command) => !due.includes(command)))
  let left = typeof size === 'number' ? size : Infinity
  let untilDrain = typeof size === 'number' ? Infinity : size.drainAfter
  const controller = new AbortController()
  const drain = (): void => {
    void handle.drain().then(() => {
      left = 0
      controller.abort(new TuttiError('INTERRUPTED', 'Released'))
    })
  }
  let failure: unknown
  let isDue = false
  let state = runStateAfter(durable.events)
  const write = (event: RunEvent | undefined, step: RunStep | undefined): boolean => {
    if (left <= 0) return false
    left -= 1
    untilDrain -= 1
    durable.writes += 1
    if (untilDrain === 0) queueMicrotask(drain)
    durable.at = clock.now()
    if (event !== undefined) {
      durable.events.push(event)
      if (comparesState) state = applyRunEvent(state, event)
    }
    if (step !== undefined) durable.steps.push(step)
    for (const command of waiting) {
      if (event === undefined || !command.when(event)) continue
      waiting.delete(command)
      queueMicrotask(() => {
        command.send(handle)
      })
    }
    if (event?.type === 'review_requested') queueMicrotask(() => deliverTo(event))
    if (!isDue && comparesState) setImmediate(compare)
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
  const deliverTo = ({ waitsFor = [] }: RunEventOf<'review_requested'>): void => {
    for (const awaited of waitsFor) {
      const event = scenario.eventFor?.(awaited)
      if (event === undefined) continue
      deliver(handle, event, clock).catch((error: unknown) => {
        // A wait is withdrawn when its process is interrupted.
        if (left > 0) failure ??= error
      })
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
      resume: {
        steps,
        epoch: number,
        ...(scenario.replay === undefined ? {} : { replay: scenario.replay }),
      },
      signal: controller.signal,
    },
  )
  if (untilDrain === 0) drain()
  for (const command of due) command.send(handle)
  for (const review of findOpenReviews(durable.events)) deliverTo(review)
  let result: RunResult | undefined
  void handle.result.then((ended) => {
    result = ended
  })
  // A handler that runs again gets its recorded results one after another, before time passes.
  const hasOperations = steps.some((step) => 'ordinal' in step)
  for (let turn = 0; hasOperations && turn < RESTORING_TURNS; turn += 1) await nextTurn()
  await clock.advance(LONG_ENOUGH)
  // Hashes are computed on other threads, which the fake clock does not control, in the order of their requests.
  for (let turns = 0; turns < MAX_HASHES && left > 0 && result === undefined; turns += 1) {
    await crypto.subtle.digest('SHA-256', NO_BYTES)
    await nextTurn()
    await clock.advance(100)
  }
  if (failure !== undefined) throw failure
  // The result of an interrupted process is not used.
  return durable.events.at(-1)?.type === 'run_result' ? result : undefined
}

/** Delivers an event as soon as its wait is open, as the store of a server does. */
async function deliver(handle: RunHandle, event: DeliveredEvent, clock: FakeClock): Promise<void> {
  for (let count = 0; count < MAX_DELIVERIES; count += 1) {
    await sleep(clock, DELIVERY_MS)
    if (await handle.deliver(event)) return
  }
}

/** Returns the requests of the reviews that an earlier process left open. */
function findOpenReviews(events: readonly RunEvent[]): readonly RunEventOf<'review_requested'>[] {
  const closed = new Set(
    eventsOf(events, 'review_decided', 'review_timed_out', 'review_withdrawn').map(
      ({ reviewId }) => reviewId,
    ),
  )
  return eventsOf(events, 'review_requested').filter(({ reviewId }) => !closed.has(reviewId))
}

/** Number of writes between two forks; 1 takes the longest. */
const FORK_STEP = Number(process.env['TUTTI_FORK_STEP'] ?? 2)

/**
 * Forks the uninterrupted run after every second of its events, without changes, and checks that each fork has the same history
 * as the run and repeats none of its recorded work.
 */
export async function forkEverywhere(
  scenario: Scenario,
  { step = FORK_STEP, first = 0 }: Cuts = {},
): Promise<ScenarioEnd> {
  const whole = await runInProcesses(scenario, [])
  const logOf = ({ events }: ScenarioEnd): unknown =>
    toComparableLog(scenario.anyOrder === true ? events.map(withoutOrder) : events, scenario)
  const log = logOf(whole)
  const forkAfter = async (writes: number): Promise<void> => {
    try {
      const fork = await runInProcesses(scenario, [writes], { isFork: true })
      expectSameHistory(whole, fork, scenario, { isFork: true })
      // The log does not show that a handler has ended, and does not ask its questions again.
      const copied = fork.steps.slice(0, findFork(fork.steps))
      const isHandled = copied.some(
        (step) =>
          step.kind === 'handler_ended' &&
          !copied.some((end) => end.kind === 'task_completed' && end.taskName === step.taskName),
      )
      if (!fork.inDoubt && !isHandled) expect(logOf(fork)).toEqual(log)
    } catch (error) {
      throw new Error(`Forked after ${writes} writes: ${String(error)}`, { cause: error })
    }
  }
  // The last two writes end the run.
  const count = Math.max(0, Math.floor((whole.writes - 2 - first) / step))
  const cuts = Array.from({ length: count }, (_, index) => first + (index + 1) * step)
  await Promise.all(cuts.map(forkAfter))
  return whole
}

/** Number of writes between two interruptions of a replay. */
const REPLAY_STEP = Number(process.env['TUTTI_REPLAY_STEP'] ?? 13)

/** The scenario of a replay, and the same one with changed code. */
export interface ReplayScenarios {
  readonly same: Scenario
  /** @default the replay with changed code is not checked */
  readonly changed?: Scenario
}

/**
 * Replays the uninterrupted run in a mode, also interrupted and drained, and checks that the replay has the log of the run
 * without the work that it does not execute, calls no tool, handler or reviewer, and fails with changed code.
 */
export async function replayEverywhere(
  { same, changed }: ReplayScenarios,
  mode: ReplayMode,
): Promise<void> {
  const whole = await runInProcesses(same, [])
  if (whole.result.status !== 'COMPLETED') return
  const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
  const replaying = { replay: mode, earlier: { events: [], steps: [...whole.steps, forked] } }
  const replay = await runInProcesses({ ...same, ...replaying }, [])
  expect([replay.world.calls, replay.world.asked]).toEqual([[], []])
  const logOf = (events: readonly RunEvent[]): unknown =>
    toComparableLog(selectReplayed(events, mode).map(withoutOrder), same)
  expect(logOf(replay.events)).toEqual(logOf(whole.events))
  const history = readHistory(replay, { isFork: true, anyOrder: same.anyOrder === true })
  for (let at = 0; at < replay.writes; at += REPLAY_STEP) {
    for (const size of [at, { drainAfter: at }]) {
      try {
        const end = await runInProcesses({ ...same, ...replaying }, [size])
        expect(readHistory(end, { isFork: true, anyOrder: same.anyOrder === true })).toEqual(
          history,
        )
        expect([end.world.calls, end.world.asked]).toEqual([[], []])
      } catch (error) {
        const where = `Replay (${mode}) cut at ${JSON.stringify(size)}`
        throw new Error(`${where}: ${String(error)}`, { cause: error })
      }
    }
  }
  if (changed === undefined) return
  const { result, world } = await runInProcesses({ ...changed, ...replaying }, [])
  expect(result.error).toMatchObject({ code: 'REPLAY_MISMATCH', details: { taskName: 'grow' } })
  expect([world.calls, world.asked]).toEqual([[], []])
}

/** Tasks that a fork or a replay adds at the same time can have their indexes in another order, and their delegations, too. */
function withoutOrder(event: RunEvent): RunEvent {
  return {
    ...event,
    ...('taskIndex' in event ? { taskIndex: 0 } : {}),
    ...('workerTaskIndex' in event ? { workerTaskIndex: 0 } : {}),
    ...('workerTask' in event ? { workerRole: `${event.workerRole} of ${event.workerTask}` } : {}),
    ...(event.type === 'run_result'
      ? {
          outputs: event.outputs.toSorted((a, b) => a.taskName.localeCompare(b.taskName)),
        }
      : {}),
  }
}

/** Returns the events of a run that its replay has, too: those of work that it executes. Failed attempts are not part of it. */
function selectReplayed(events: readonly RunEvent[], mode: ReplayMode): readonly RunEvent[] {
  if (mode === 'models') {
    return events.filter(({ type }) => !/^(?:review_|tool_|agent_tool_|handler_step_)/.test(type))
  }
  const added = new Set(eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask))
  const failed = new Set(
    eventsOf(events, 'task_attempt_failed').map((one) => `${one.taskName} ${one.attempt}`),
  )
  return events.filter(
    (event) =>
      /^(?:ensemble_|run_|task_(?:started|completed))/.test(event.type) &&
      !('taskName' in event && added.has(event.taskName ?? '')) &&
      !(event.type === 'task_started' && failed.has(`${event.taskName} ${event.attempt}`)),
  )
}

/** Checks that no recorded turn, call or review is repeated. */
function expectNothingRepeated(
  earlier: Durable,
  durable: Durable,
  calls: readonly WorldCall[],
): void {
  const events = durable.events.slice(earlier.events.length)
  const nameTurn = (of: Pick<StepOf<'model_turn'>, 'taskName' | 'attempt' | 'iterationIndex'>) =>
    `${of.taskName}/${of.attempt}/${of.iterationIndex}`
  const answered = new Set(
    earlier.steps.flatMap((step) => (step.kind === 'model_turn' ? nameTurn(step) : [])),
  )
  const askedAgain = eventsOf(events, 'llm_iteration_started').map(nameTurn)
  expect(askedAgain.filter((turn) => answered.has(turn))).toEqual([])
  // A call in flight is repeated with its nested calls.
  const ended = new Set(
    eventsOf(earlier.events, 'tool_called')
      .filter(({ parentToolCallId }) => parentToolCallId === undefined)
      // A cancelled call has no result, so a handler that continues makes it again.
      .filter(({ toolResult }) => toolResult?.endsWith('was cancelled') !== true)
      .map((event) => `run-1/${nameTurn(event)}/${event.toolCallId}`),
  )
  for (const { taskName, attempt } of eventsOf(earlier.events, 'task_completed')) {
    ended.add(`run-1/${taskName}/${attempt}/handler`)
  }
  for (const step of earlier.steps.filter(isEndOfOperation)) {
    const what = step.kind === 'handler_step' ? `step ${step.name}` : `call ${step.text}`
    ended.add(`${step.taskName}/${step.attempt}/${what}`)
  }
  expect(calls.map(({ key }) => key).filter((key) => ended.has(key))).toEqual([])
}

/** Whether the step records the end of a step or a call of a handler. */
function isEndOfOperation(step: RunStep): step is StepOf<'handler_step' | 'tool_ended'> {
  return step.kind === 'handler_step' || (step.kind === 'tool_ended' && step.ordinal !== undefined)
}

/** Whether the process was interrupted during a call that must not be repeated. */
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

/** Checks that an interrupted run has the same history as an uninterrupted one. */
function expectSameHistory(
  whole: ScenarioEnd,
  end: ScenarioEnd,
  { once = [], mayEnd = [], anyOrder = false }: Scenario,
  { isFork = false } = {},
): void {
  const listCalls = (name: string): readonly string[] =>
    end.world.calls.filter((call) => call.name === name).map(({ key }) => key)
  for (const name of once) expect(new Set(listCalls(name)).size).toBe(listCalls(name).length)
  const keys = new Set(whole.world.calls.map(({ key }) => key))
  const ownKeys = new Set(end.world.calls.map(({ key }) => key))
  // A handler whose call is in doubt fails, and undoes its steps.
  const mayHave = (key: string): boolean => keys.has(key) || (end.inDoubt && /step undo/.test(key))
  expect([...ownKeys].filter((key) => !mayHave(key))).toEqual([])
  if (end.inDoubt && mayEnd.includes(end.result.status)) return
  expect(end.result.status).toBe(whole.result.status)
  if (end.inDoubt) return
  expect([...keys].filter((key) => !ownKeys.has(key))).toEqual([])
  expect(readHistory(end, { isFork, anyOrder })).toEqual(readHistory(whole, { isFork, anyOrder }))
}

/** Time of a directive in a prompt. */
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/**
 * Returns the part of a run that must be the same after any interruption; times and random ids are not part
 * of it.
 */
function readHistory(
  { events, result }: ScenarioEnd,
  { isFork, anyOrder }: { readonly isFork: boolean; readonly anyOrder: boolean },
): object {
  const state = runStateAfter(events)
  const tasks = anyOrder
    ? state.tasks.toSorted((a, b) => a.name.localeCompare(b.name))
    : state.tasks
  return {
    output: result.output,
    metrics: isFork ? undefined : roundMetrics(result.metrics),
    error: result.error?.code,
    tasks: tasks.map((task) => ({
      name: task.name,
      index: anyOrder ? undefined : task.index,
      status: task.status,
      attempt: task.attempt,
      description: task.description,
      reason: task.skipReason,
      output: task.output,
      structured: task.structuredOutput,
      error: task.status === 'CANCELLED' ? task.error?.code : task.error,
      usage: isFork ? undefined : { ...task.usage, costUsd: task.usage.costUsd?.toFixed(9) },
      earlier: task.earlierAttempts.map(({ reason, code }) => ({ reason, code })),
      // Calls in flight at an interruption may have been made twice, or not at all.
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
    // Tasks that run at the same time have no order among them.
    reviews: listReviews(state, isFork),
    directives: sortByContent(
      state.directives.map(({ content, delivered }) => ({
        content,
        delivered: delivered
          .map(
            ({ taskName, attempt, iterationIndex }) => `${taskName}/${attempt}/${iterationIndex}`,
          )
          .toSorted(),
      })),
    ),
    delegations: sortByContent(
      state.delegations.map(({ workerTask, status, reason }) => ({ workerTask, status, reason })),
    ),
  }
}

/** Returns the reviews; of a fork, which asks some again before the same work, those that differ. */
function listReviews({ reviews }: RunState, isFork: boolean): readonly object[] {
  const listed = sortByContent(
    reviews.map(({ taskName, timing, attempt, status, decision, feedback }) => ({
      taskName,
      timing,
      attempt: timing === 'BEFORE_EXECUTION' ? undefined : attempt,
      status,
      decision,
      feedback,
    })),
  )
  return isFork ? [...new Map(listed.map((one) => [JSON.stringify(one), one])).values()] : listed
}

function sortByContent(values: readonly object[]): readonly object[] {
  return values.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
}

function isAnswered({ status }: RunState['tasks'][number]['turns'][number]): boolean {
  return status === 'COMPLETED'
}

function roundMetrics(metrics: RunResult['metrics']): object {
  const { costEstimate, ...counts } = metrics
  if (costEstimate === undefined) return counts
  const { inputCost, outputCost } = costEstimate
  return { ...counts, inputCost: inputCost.toFixed(9), outputCost: outputCost.toFixed(9) }
}
