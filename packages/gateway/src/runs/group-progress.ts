/**
 * No I/O: bounds the messages about tasks that a task has added.
 *
 * GW-GP1 The first `MAX_PLAIN` tasks that one task has added have separate messages, and the first `MAX_PLAIN_IN_RUN` added
 *    tasks of a run. The others are counted: a message follows when the number of ended tasks has grown by `GROWTH`. So
 *    `n` tasks of one parent have the messages of 20 tasks, and at most `log(n / 20) / log(1.1)` counts: 66 for 10,000.
 * GW-GP2 Reviews are not progress: each has its own message.
 * GW-GP3 A task that a counted task adds is not reported at all: its parent is the task that is counted.
 * GW-GP4 Of the tool calls of counted tasks, only those under review have messages, which begin with the review.
 */
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** Maximum number of tasks of one parent that have separate messages. */
const MAX_PLAIN = 20

/** Maximum number of added tasks of a run that have separate messages: ensembles nest, so parents are many. */
const MAX_PLAIN_IN_RUN = 200

/** Factor by which the number of ended tasks grows between two messages. */
const GROWTH = 1.1

/** Progress of the tasks that one task has added. */
export interface GroupCounts {
  /** Name of the task that has added them. */
  readonly parent: string
  readonly added: number
  readonly completed: number
  readonly failed: number
}

/** Replaces the messages of an event about a counted task. */
export interface GroupNote {
  /** Counts to report; undefined when none are due. */
  readonly counts: GroupCounts | undefined
}

interface Group {
  readonly parent: string
  added: number
  completed: number
  failed: number
  /** Number of ended tasks in the last message. */
  reported: number
  /** Whether one of its tasks has no separate messages. */
  hasCounted: boolean
}

/** State of an added task. */
interface AddedTask {
  /** Group that counts it; undefined for a task that a counted task has added. */
  readonly group: Group | undefined
  /** Whether it has no separate messages. */
  readonly isCounted: boolean
}

/** Counts the added tasks of one run, from its events in order. */
export class GroupProgress {
  readonly #groups = new Map<string, Group>()
  /** Added tasks by name. */
  readonly #tasks = new Map<string, AddedTask>()
  /** Groups with counted tasks that have changed since `takeChanged`. */
  readonly #changed = new Set<Group>()
  /** Number of added tasks with separate messages. */
  #plain = 0

  /** Takes the next event. Returns undefined if it has separate messages. */
  take(event: RunEvent): GroupNote | undefined {
    if (event.type.startsWith('review_')) return undefined
    if (event.type === 'delegation_started') this.#add(event)
    const task = this.#tasks.get(readTaskName(event))
    if (task === undefined) return undefined
    const { group, isCounted } = task
    const isEnd = event.type === 'task_completed' || event.type === 'task_failed'
    if (group !== undefined && event.type === 'task_completed') group.completed += 1
    if (group !== undefined && event.type === 'task_failed') group.failed += 1
    if (isEnd && group?.hasCounted === true) this.#changed.add(group)
    if (!isCounted) return undefined
    if (group === undefined || !isEnd) return { counts: undefined }
    const ended = group.completed + group.failed
    if (ended < group.reported * GROWTH) return { counts: undefined }
    group.reported = ended
    return { counts: toCounts(group) }
  }

  /** Whether an added task has no separate messages. */
  isCounted(taskName: string): boolean {
    return this.#tasks.get(taskName)?.isCounted === true
  }

  /** Returns the counts of the groups with counted tasks that have changed since the previous call. */
  takeChanged(): readonly GroupCounts[] {
    const changed = [...this.#changed].map(toCounts)
    this.#changed.clear()
    return changed
  }

  #add({ taskName: parent, workerTask }: RunEventOf<'delegation_started'>): void {
    // A delegation that a process begins again after a crash.
    if (this.#tasks.has(workerTask)) return
    if (this.isCounted(parent)) {
      this.#tasks.set(workerTask, { group: undefined, isCounted: true })
      return
    }
    const group = this.#groups.get(parent) ?? {
      parent,
      added: 0,
      completed: 0,
      failed: 0,
      reported: MAX_PLAIN,
      hasCounted: false,
    }
    group.added += 1
    this.#groups.set(parent, group)
    const isCounted = group.added > MAX_PLAIN || this.#plain >= MAX_PLAIN_IN_RUN
    this.#tasks.set(workerTask, { group, isCounted })
    if (!isCounted) {
      this.#plain += 1
      return
    }
    group.hasCounted = true
    this.#changed.add(group)
  }
}

function toCounts({ parent, added, completed, failed }: Group): GroupCounts {
  return { parent, added, completed, failed }
}

/** Returns the name of the task that an event is about; empty for other events. */
function readTaskName(event: RunEvent): string {
  if ('workerTask' in event && event.workerTask !== undefined) return event.workerTask
  return 'taskName' in event ? (event.taskName ?? '') : ''
}

/** Formats counts: `"write": 512 of 600 tasks completed, 2 failed`. */
export function formatCounts({ parent, added, completed, failed }: GroupCounts): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`
  return `"${parent}": ${completed} of ${added} tasks completed${failures}`
}
