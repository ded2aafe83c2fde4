/** The last model turns of a run, for a connection that was not there when they were taken. */

import { eventPages, eventSize, type RunService } from '@tutti/runs'

import type { EventPosition, IterationSnapshot, LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** Turns turnsByTask of each agent's work on a task; AgentEnsemble's number. */
const TURNS_SHOWN = 5

/** How far back turns are looked for, in events of the run. */
const LOOK_BACK = 10_000

/** Size of all turns together, in characters of JSON. */
const MAX_SIZE = 1_000_000

type Started = RunEventOf<'llm_iteration_started'> & EventPosition

type Completed = RunEventOf<'llm_iteration_completed'> & EventPosition

type TurnEvent = Started | Completed

/** A turn with its place in the log. */
interface Turn {
  readonly started: Started
  readonly completed?: Completed
}

/**
 * The last five turns of each task up to the event `upTo`, in the order in which they began; one that is
 * under way has no `completed`. A turn that was begun anew, and the turns of an earlier try, are left out.
 */
export async function readRecentIterations(
  runs: RunService,
  runId: string,
  upTo: number,
): Promise<readonly IterationSnapshot[]> {
  const turnsByTask = new Map<string, readonly Turn[]>()
  const from = Math.max(0, upTo - LOOK_BACK)
  const types = ['llm_iteration_started', 'llm_iteration_completed'] as const
  for await (const page of eventPages(runs, { runId, from, types })) {
    for (const event of page)
      if (event.seq <= upTo && isTurnEvent(event)) addTurnEvent(turnsByTask, event)
    dropOldest(turnsByTask)
    if ((page.at(-1)?.seq ?? upTo) >= upTo) break
  }
  return [...turnsByTask.values()]
    .flat()
    .toSorted((one, other) => one.started.seq - other.started.seq)
    .map(({ started, completed }) => ({
      started: withoutPosition(started),
      ...(completed === undefined ? {} : { completed: withoutPosition(completed) }),
    }))
}

/** Drops the oldest turns beyond `MAX_SIZE`. Each turn holds up to twenty messages of any length. */
function dropOldest(turnsByTask: Map<string, readonly Turn[]>): void {
  let size = 0
  const newestFirst = [...turnsByTask.values()]
    .flat()
    .toSorted((a, b) => b.started.seq - a.started.seq)
  const fitting = new Set(newestFirst.filter((turn) => (size += eventSize(turn)) <= MAX_SIZE))
  if (fitting.size === newestFirst.length) return
  for (const [key, turns] of turnsByTask) {
    const left = turns.filter((turn) => fitting.has(turn))
    if (left.length === 0) turnsByTask.delete(key)
    else turnsByTask.set(key, left)
  }
}

/** An event as it stands in a snapshot. */
function withoutPosition<Event extends EventPosition>(
  event: Event,
): Omit<Event, keyof EventPosition> {
  const { runId: _runId, seq: _seq, id: _id, ...bare } = event
  return bare
}

function isTurnEvent(event: LoggedRunEvent): event is TurnEvent {
  return event.type === 'llm_iteration_started' || event.type === 'llm_iteration_completed'
}

function addTurnEvent(turnsByTask: Map<string, readonly Turn[]>, event: TurnEvent): void {
  const key = event.taskName
  const turns = turnsByTask.get(key) ?? []
  if (event.type === 'llm_iteration_started') {
    const others = turns.filter((turn) => !isReplaced(turn, event))
    turnsByTask.set(key, [...others, { started: event }].slice(-TURNS_SHOWN))
    return
  }
  const at = turns.findIndex(({ started }) => isSameTurn(started, event))
  const turn = turns[at]
  if (turn !== undefined) turnsByTask.set(key, turns.with(at, { ...turn, completed: event }))
}

function isReplaced({ started }: Turn, next: Started): boolean {
  const isEarlierTry = started.taskName === next.taskName && started.attempt < next.attempt
  return isEarlierTry || isSameTurn(started, next)
}

function isSameTurn(one: Started, other: TurnEvent): boolean {
  return (
    one.taskName === other.taskName &&
    one.attempt === other.attempt &&
    one.iterationIndex === other.iterationIndex
  )
}
