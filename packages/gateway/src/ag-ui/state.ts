/**
 * No I/O: the state of a run as AG-UI clients see it.
 *
 * GW-Y1 The state has the key `tutti` with the status of the run, its tasks, its usage and its open reviews. Other keys
 *    are those of the client's state: they are returned unchanged, and agents do not get them. The status is
 *    WAITING_REVIEW or WAITING where the run waits (PROTO-W1).
 * GW-Y2 A stream has one snapshot before any other state, then deltas (JSON Patch). Applied in order, they give the
 *    state that a new snapshot would have.
 * GW-Y22 Counted tasks (GW-GP1) are in `groups`, as counts of their parent, not in `tasks`. The changes that they make are
 *    in the delta of the next counts, or of the next other change.
 * GW-Y23 The cost of an event does not depend on the number of tasks. The event that lists the plan costs as much as the
 *    plan has tasks.
 */
import { RunStateFold, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import type { RunUsage, TaskState, WaitingRunStatus } from '@tutti/protocol/internal'

import type { GroupCounts, GroupNote, GroupProgress } from '../runs/group-progress.ts'
import type { PatchOperation } from './wire.ts'

/** Types of the events that change the state of a run. Others would only retain the text of models. */
const STATE_EVENTS: ReadonlySet<string> = new Set([
  'run_queued',
  'run_resumed',
  'run_cancelling',
  'ensemble_started',
  'delegation_started',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'ensemble_completed',
  'run_result',
] satisfies readonly LoggedRunEvent['type'][])

/** Key of the run in the state. */
const KEY = 'tutti'

export interface AguiRunState {
  /** Id of the run, with which the control API finds it. */
  readonly runId: string
  readonly ensemble: string
  readonly status: RunState['status']
  /** Tasks of the plan, and those of the added ones that are not only counted. */
  readonly tasks: readonly AguiTaskState[]
  /** Counts of the tasks that a task has added, for each that has added many. */
  readonly groups: readonly GroupCounts[]
  readonly usage: AguiUsage
  /** Open reviews, oldest first. */
  readonly reviews: readonly AguiReviewState[]
}

export interface AguiUsage {
  readonly tokens: number
  readonly costUsd?: number
}

export interface AguiTaskState {
  readonly name: string
  readonly agentRole: string
  readonly status: TaskState['status']
  /** From 1; 0 before the first attempt. */
  readonly attempt: number
  /** Role of the agent that has the conversation, or gave the answer; present after a handoff. */
  readonly activeAgent?: string
}

/** Open review. */
export interface AguiReviewState {
  readonly reviewId: string
  readonly taskName: string
  readonly timing: RunState['reviews'][number]['timing']
}

/** Fields of a state that the events of the run do not contain. */
export type AguiRunIdentity = Pick<AguiRunState, 'runId' | 'ensemble'>

/** Facts about the run after an event that other folds have. */
export interface AguiEventFacts {
  readonly usage: RunUsage
  /** Status of a run that waits; undefined for any other run. */
  readonly waitingStatus: WaitingRunStatus | undefined
  /** Set if the event is about a counted task. */
  readonly group: GroupNote | undefined
}

/** Folds the events of a run, in order, into its state and the operations that change it. No I/O. */
export class AguiStateFold {
  readonly #identity: AguiRunIdentity
  readonly #groups: GroupProgress
  readonly #run = new RunStateFold()
  readonly #tasks = new ListedStates<AguiTaskState>('tasks', ({ name }) => name)
  readonly #counts = new ListedStates<GroupCounts>('groups', ({ parent }) => parent)
  readonly #reviews = new ListedStates<AguiReviewState>('reviews', ({ reviewId }) => reviewId)
  #end: RunState['status'] | undefined
  #usage: RunUsage | undefined
  #waitingStatus: WaitingRunStatus | undefined
  /** Status and usage in the newest delta. */
  #sent: Pick<AguiRunState, 'status' | 'usage'> = { status: 'ACCEPTED', usage: { tokens: 0 } }

  /** `groups` takes each event before this fold. */
  constructor(identity: AguiRunIdentity, groups: GroupProgress) {
    this.#identity = identity
    this.#groups = groups
  }

  /** The run, without the texts of its tasks. */
  get run(): Pick<RunStateFold, 'facts' | 'findTask' | 'findReview'> {
    return this.#run
  }

  /** Names of the listed tasks that are in progress. */
  get running(): readonly string[] {
    return this.#tasks.list.flatMap(({ name, status }) => (status === 'RUNNING' ? [name] : []))
  }

  /** Takes the next event. Returns the operations of its delta; none if it has none. */
  take(
    event: LoggedRunEvent,
    { usage, waitingStatus, group }: AguiEventFacts,
  ): readonly PatchOperation[] {
    const isUsed = usage !== this.#usage && group === undefined
    this.#usage = usage
    this.#waitingStatus = waitingStatus
    if (STATE_EVENTS.has(event.type)) this.#fold(event)
    const status = this.#readStatus()
    const lists = [...this.#reviews.takeChanges(), ...this.#tasks.takeChanges()]
    const isDue =
      isUsed || lists.length > 0 || status !== this.#sent.status || group?.counts !== undefined
    return isDue ? [...this.#report(status), ...lists, ...this.#countGroups()] : []
  }

  /** Returns a snapshot that adds the run to the state of a client. Later deltas apply to it. */
  toSnapshot(given: unknown): Readonly<Record<string, unknown>> {
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    this.#report(this.#readStatus())
    this.#countGroups()
    const state: AguiRunState = {
      ...this.#identity,
      status: this.#sent.status,
      tasks: this.#tasks.copy(),
      groups: this.#counts.copy(),
      usage: this.#sent.usage,
      reviews: this.#reviews.copy(),
    }
    return { ...(isObject ? given : {}), [KEY]: state }
  }

  #fold(event: LoggedRunEvent): void {
    this.#run.take(withoutOutput(event))
    switch (event.type) {
      case 'ensemble_started':
        for (const { name } of event.tasks) this.#readTask(name)
        return
      case 'run_resumed':
        for (const { name } of event.addedTasks ?? []) this.#readTask(name)
        return
      case 'delegation_started':
        this.#readTask(event.workerTask)
        if (event.handoff !== undefined) this.#readHolders(event.taskName)
        return
      case 'review_requested':
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn':
        this.#readReview(event.reviewId)
        return
      case 'run_result':
        this.#end = event.status
        return
      default:
        if ('taskName' in event && event.taskName !== undefined) this.#readTask(event.taskName)
    }
  }

  #readTask(taskName: string): void {
    const task = this.#groups.isCounted(taskName) ? undefined : this.#run.findTask(taskName)
    if (task === undefined) return
    const { name, agentRole, status, attempt, activeAgent } = task
    const active = activeAgent === undefined ? {} : { activeAgent }
    this.#tasks.set({ name, agentRole, status, attempt, ...active })
  }

  /** Reads the task that handed off, and those from which it received the conversation. */
  #readHolders(taskName: string): void {
    let name: string | undefined = taskName
    while (name !== undefined) {
      this.#readTask(name)
      name = this.#run.findTask(name)?.delegatedBy?.taskName
    }
  }

  #readReview(id: string): void {
    const review = this.#run.findReview(id)
    if (review === undefined) return
    const { reviewId, taskName, timing, status } = review
    if (status === 'OPEN') this.#reviews.set({ reviewId, taskName, timing })
    else this.#reviews.remove(reviewId)
  }

  #readStatus(): RunState['status'] {
    if (this.#end !== undefined) return this.#end
    const { cancelMode, startedAt, epoch } = this.#run.facts
    if (cancelMode !== undefined) return 'CANCELLING'
    if (startedAt === undefined && epoch === undefined) return 'ACCEPTED'
    return this.#waitingStatus ?? 'RUNNING'
  }

  /** Returns the operations for a changed status and usage. */
  #report(status: RunState['status']): readonly PatchOperation[] {
    const { tokens = 0, knownCostUsd } = this.#usage ?? {}
    const usage = { tokens, ...(knownCostUsd === undefined ? {} : { costUsd: knownCostUsd }) }
    const before = this.#sent
    const isSame = before.usage.tokens === tokens && before.usage.costUsd === knownCostUsd
    this.#sent = { status, usage }
    return [
      ...(status === before.status ? [] : [replaceField('status', status)]),
      ...(isSame ? [] : [replaceField('usage', usage)]),
    ]
  }

  /** Returns the operations for changed counts. */
  #countGroups(): readonly PatchOperation[] {
    for (const counts of this.#groups.takeChanged()) this.#counts.set(counts)
    return this.#counts.takeChanges()
  }
}

function replaceField(field: 'status' | 'usage', value: unknown): PatchOperation {
  return { op: 'replace', path: `/${KEY}/${field}`, value }
}

/** Returns the event without the output of a task. */
function withoutOutput(event: LoggedRunEvent): LoggedRunEvent {
  if (event.type !== 'task_completed') return event
  const { structuredOutput: _, parts: __, ...rest } = event
  return { ...rest, output: '' }
}

/** A list of the state, and the operations that change it. */
class ListedStates<Listed extends object> {
  readonly #field: string
  readonly #keyOf: (listed: Listed) => string
  readonly #indexes = new Map<string, number>()
  readonly #list: Listed[] = []
  #changes: PatchOperation[] = []

  constructor(field: string, keyOf: (listed: Listed) => string) {
    this.#field = field
    this.#keyOf = keyOf
  }

  get list(): readonly Listed[] {
    return this.#list
  }

  /** Adds a member at the end, or replaces the one with its key. */
  set(listed: Listed): void {
    const at = this.#indexes.get(this.#keyOf(listed))
    if (at === undefined) {
      this.#indexes.set(this.#keyOf(listed), this.#list.push(listed) - 1)
      this.#changes.push({ op: 'add', path: this.#path('-'), value: listed })
    } else if (!isEqual(this.#list[at], listed)) {
      this.#list[at] = listed
      this.#changes.push({ op: 'replace', path: this.#path(at), value: listed })
    }
  }

  /** Removes a member. It moves those after it. */
  remove(key: string): void {
    const at = this.#indexes.get(key)
    if (at === undefined) return
    this.#list.splice(at, 1)
    this.#indexes.delete(key)
    for (let next = at; next < this.#list.length; next += 1) {
      const listed = this.#list[next]
      if (listed !== undefined) this.#indexes.set(this.#keyOf(listed), next)
    }
    this.#changes.push({ op: 'remove', path: this.#path(at) })
  }

  /** Returns the operations since the previous call. */
  takeChanges(): readonly PatchOperation[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  /** Returns the members so far. Later changes apply to them. */
  copy(): readonly Listed[] {
    this.#changes = []
    return [...this.#list]
  }

  #path(at: number | '-'): string {
    return `/${KEY}/${this.#field}/${at}`
  }
}

/** Whether two members have the same texts and numbers. */
function isEqual<Listed extends object>(one: Listed | undefined, other: Listed): boolean {
  return (
    one !== undefined &&
    Object.entries(other).every(([key, value]) => Reflect.get(one, key) === value)
  )
}
