/** Reads the last model turns of a run, for connections that were opened after them. */
import type { RunService } from '@tutti/runs'
import { eventPages, eventSize } from '@tutti/runs/internal'

import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { EventPosition, IterationSnapshot } from '@tutti/protocol/internal'

/** Number of turns per task; the same as in AgentEnsemble. */
const TURNS_SHOWN = 5

/** Number of events of the run that are searched for turns. */
const LOOK_BACK = 10_000

/** Maximum size of all turns, in characters of JSON. */
const MAX_SIZE = 1_000_000

type Started = RunEventOf<'llm_iteration_started'> & EventPosition

type Completed = RunEventOf<'llm_iteration_completed'> & EventPosition

type TurnEvent = Started | Completed

/** A model turn with the positions of its events in the log. */
interface Turn {
  readonly started: Started
  readonly completed?: Completed
}

/**
 * Returns the last five turns of each task up to the event `upTo`, in the order in which they began. A turn in progress
 * has no `completed`. Turns that were started again, and turns of earlier attempts, are left out.
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

/** Drops the oldest turns beyond `MAX_SIZE`. Each turn holds up to 20 messages of any length. */
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

/** Removes the position from an event, as snapshots have none. */
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
