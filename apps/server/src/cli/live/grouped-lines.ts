/**
 * Bounds the lines of the tasks that a task adds, such as one for each item of a list. No I/O.
 *
 * SERVER-V3 Each of the first 20 tasks that a task adds has a line for its delegation, which includes its start, and one for
 *    its end. Of the others, reviews and up to 20 failures have lines, and all are counted: in a line after each 100 ends, and
 *    in one at the end of the task that added them, unless the last line has the same counts.
 */
import { formatTerminalCount } from './format-values.ts'
import { formatAtEvent, plainLines } from './plain-lines.ts'
import { toSingleLine } from '../../terminal/text-width.ts'

import type { LoggedRunEvent, RunStateFold } from '@tutti/protocol'

/** Maximum number of added tasks that are listed one by one, for each task that adds some. */
const MAX_LISTED = 20

/** Maximum number of failures of the other tasks that have a line. */
const MAX_FAILURES = 20

/** Number of ended tasks after which they are counted. */
const COUNT_EVERY = 100

/** The tasks that one task adds. */
interface TaskGroup {
  readonly parent: string
  begun: number
  completed: number
  failed: number
  /** Number of failures with a line. */
  shownFailures: number
}

/** Formats the events of one run, in their order. */
export class GroupedLines {
  readonly #groups = new Map<string, TaskGroup>()
  /** Groups of the tasks that are only counted, by task. */
  readonly #unlisted = new Map<string, TaskGroup>()
  /** Tasks whose first start is in the line of their delegation. */
  readonly #announced = new Set<string>()

  /** Formats an event; `run` is the run after it. Returns no lines for minor events. */
  lines(event: LoggedRunEvent, run: RunStateFold): readonly string[] {
    const count = this.#count(event)
    const counted = count === undefined ? [] : [formatAtEvent(formatGroup(count), event, run)]
    return [...counted, ...(this.#isListed(event) ? plainLines(event, run) : [])]
  }

  /** Counts the event; returns a group whose numbers are due. */
  #count(event: LoggedRunEvent): TaskGroup | undefined {
    switch (event.type) {
      case 'delegation_started': {
        const group = this.#groupOf(event.taskName)
        group.begun += 1
        if (group.begun > MAX_LISTED) this.#unlisted.set(event.workerTask, group)
        else this.#announced.add(event.workerTask)
        return undefined
      }
      case 'delegation_completed':
      case 'delegation_failed': {
        if (event.workerTask === undefined) return undefined
        const group = this.#groupOf(event.taskName)
        if (event.type === 'delegation_completed') group.completed += 1
        else group.failed += 1
        return isCounted(group) && group.begun > MAX_LISTED ? group : undefined
      }
      case 'task_completed':
      case 'task_attempt_failed':
      case 'task_failed': {
        const group = this.#groups.get(event.taskName)
        // A retry adds its own tasks.
        this.#groups.delete(event.taskName)
        if (group === undefined || group.begun <= MAX_LISTED) return undefined
        return isCounted(group) ? undefined : group
      }
      default:
        return undefined
    }
  }

  #groupOf(parent: string): TaskGroup {
    const known = this.#groups.get(parent)
    if (known !== undefined) return known
    const group = { parent, begun: 0, completed: 0, failed: 0, shownFailures: 0 }
    this.#groups.set(parent, group)
    return group
  }

  #isListed(event: LoggedRunEvent): boolean {
    if (event.type.startsWith('review_')) return true
    if (event.type === 'task_started' && this.#announced.delete(event.taskName)) return false
    const name =
      event.type === 'delegation_started'
        ? event.workerTask
        : 'taskName' in event
          ? event.taskName
          : undefined
    const group = name === undefined ? undefined : this.#unlisted.get(name)
    if (group === undefined) return true
    if (event.type !== 'task_failed' || group.shownFailures === MAX_FAILURES) return false
    group.shownFailures += 1
    return true
  }
}

/** Whether the counts were shown after the last task of the group ended. */
function isCounted({ completed, failed }: TaskGroup): boolean {
  return completed + failed > 0 && (completed + failed) % COUNT_EVERY === 0
}

function formatGroup({ parent, completed, failed }: TaskGroup): string {
  const failures = failed === 0 ? '' : `, ${formatTerminalCount(failed, 'task')} failed`
  return `${toSingleLine(parent)}: ${formatTerminalCount(completed, 'task')} completed${failures}`
}
