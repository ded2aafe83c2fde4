/**
 * No I/O: bounds the progress messages about tasks that a task has added.
 *
 * GW-GP1 Of the tasks that one task has added, the first `MAX_PLAIN` have separate messages. The others are counted: a
 *    message follows when the number of ended tasks has grown by `GROWTH`, so that there are few however many tasks there are.
 * GW-GP2 Reviews are not progress: each has its own message.
 */
import { emptyRunState, type RunEvent, type RunState } from '@tutti/protocol'

/** Maximum number of tasks of one parent that have separate messages. */
const MAX_PLAIN = 20

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
}

/** Counts the added tasks of one run, from its events in order. */
export class GroupProgress {
  readonly #groups = new Map<string, Group>()
  /** Name of an added task → its group, and whether it is only counted. */
  readonly #tasks = new Map<string, { readonly group: Group; readonly isCounted: boolean }>()
  /** Id of a delegation → the task that it added. */
  readonly #delegations = new Map<string, string>()

  /** Begins after the events of a state. */
  constructor({ delegations, tasks }: Pick<RunState, 'delegations' | 'tasks'> = emptyRunState()) {
    for (const { delegationId, taskName, workerTask, status } of delegations) {
      if (workerTask === undefined) continue
      this.#add(taskName, workerTask)
      if (status === 'RUNNING') this.#delegations.set(delegationId, workerTask)
    }
    for (const { name, status } of tasks) {
      const group = this.#tasks.get(name)?.group
      if (group === undefined) continue
      if (status === 'COMPLETED') group.completed += 1
      if (status === 'FAILED') group.failed += 1
      group.reported = Math.max(MAX_PLAIN, group.completed + group.failed)
    }
  }

  /** Takes the next event. Returns undefined if it has separate messages. */
  take(event: RunEvent): GroupNote | undefined {
    if (event.type.startsWith('review_')) return undefined
    const name = this.#findTask(event)
    const task = name === undefined ? undefined : this.#tasks.get(name)
    if (task === undefined) return undefined
    const { group, isCounted } = task
    const isEnd = event.type === 'task_completed' || event.type === 'task_failed'
    if (event.type === 'task_completed') group.completed += 1
    if (event.type === 'task_failed') group.failed += 1
    if (!isCounted) return undefined
    const ended = group.completed + group.failed
    if (!isEnd || ended < group.reported * GROWTH) return { counts: undefined }
    group.reported = ended
    const { parent, added, completed, failed } = group
    return { counts: { parent, added, completed, failed } }
  }

  /** Returns the name of the added task that an event is about. */
  #findTask(event: RunEvent): string | undefined {
    switch (event.type) {
      case 'delegation_started': {
        const { taskName: parent, workerTask, delegationId } = event
        this.#delegations.set(delegationId, workerTask)
        if (!this.#tasks.has(workerTask)) this.#add(parent, workerTask)
        return workerTask
      }
      case 'delegation_completed':
      case 'delegation_failed': {
        const workerTask = this.#delegations.get(event.delegationId)
        this.#delegations.delete(event.delegationId)
        return workerTask
      }
      default:
        return 'taskName' in event ? event.taskName : undefined
    }
  }

  #add(parent: string, workerTask: string): void {
    const group = this.#groups.get(parent) ?? {
      parent,
      added: 0,
      completed: 0,
      failed: 0,
      reported: MAX_PLAIN,
    }
    group.added += 1
    this.#groups.set(parent, group)
    this.#tasks.set(workerTask, { group, isCounted: group.added > MAX_PLAIN })
  }
}

/** Formats counts: `"write": 512 of 600 tasks completed, 2 failed`. */
export function formatCounts({ parent, added, completed, failed }: GroupCounts): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`
  return `"${parent}": ${completed} of ${added} tasks completed${failures}`
}
