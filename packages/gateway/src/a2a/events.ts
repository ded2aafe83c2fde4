/**
 * Pure: maps the events of a run to the updates of its task for one reader.
 *
 * GW-U1 A change of the state or the question is a status update, and so is the request of a cancel.
 * GW-U2 The output of the last task of the run is the artifact. Its text is sent as the model writes it. When it begins
 *    again (in another model turn, attempt or process), it replaces the earlier text.
 * GW-U3 If the text of the last task has been sent, the output only closes it; otherwise the whole output is sent.
 * GW-U4 Outputs of the other tasks are status updates while the task works, and artifacts when it ends without the last
 *    one.
 * GW-U5 A stream begins with the task and has every later change in order, each once. A subscription ends when the task
 *    ends, the stream of a message also at a question.
 */
import { toUsageMetadata } from '../service/usage-metadata.ts'
import {
  listOutputs,
  toProgressStatus,
  toWireStatus,
  acceptsMediaType,
  toArtifact,
  toWireTask,
  type Showing,
} from './to-task.ts'
import {
  isSettled,
  isTerminal,
  openReviews,
  toTaskState,
  advanceView,
  type TaskView,
} from './view.ts'

import type { A2aTaskState, ArtifactUpdate, StreamItem } from './wire.ts'
import type { LoadedTask } from './load-task.ts'
import type { LoggedRunEvent, RunEventOf, RunUsage } from '@tutti/protocol'

type Update = Omit<ArtifactUpdate, 'taskId' | 'contextId' | 'metadata'>

/** Makes the updates of one stream from the events of the run, in order. */
export class TaskUpdates {
  readonly #identity: LoadedTask['identity']
  readonly #showing: Showing
  #view: TaskView
  /** Usage in the previous update. */
  #reportedUsage: RunUsage
  /** Text of the current artifact that the caller has received. */
  #written = ''
  #isFresh = true
  /** Name of the task whose output has been sent as the artifact. */
  #sentOutput: string | undefined

  constructor(identity: LoadedTask['identity'], first: TaskView, showing: Showing) {
    this.#identity = identity
    this.#showing = showing
    this.#view = first
    this.#reportedUsage = first.usage
    this.#sentOutput = listOutputs(first)[0]?.taskName
  }

  get view(): TaskView {
    return this.#view
  }

  /** Yields the updates of the next event. */
  *after(event: LoggedRunEvent): Generator<StreamItem> {
    const before = this.#view
    const view = advanceView(before, event)
    this.#view = view
    const ids = { taskId: this.#identity.id, contextId: this.#identity.contextId }
    const artifact = this.#artifactAfter(event, view)
    if (artifact !== undefined) {
      yield { artifactUpdate: { ...ids, ...artifact, ...this.#usage() } }
      return
    }
    if (event.type === 'task_completed') {
      const status = toProgressStatus(this.#identity, view, event)
      yield { statusUpdate: { ...ids, status, ...this.#usage() } }
      return
    }
    const [state, stateBefore] = [toTaskState(view), toTaskState(before)]
    if (isTerminal(state) && !isTerminal(stateBefore)) yield* this.#leftOver(view, ids)
    const isUpdate =
      state !== stateBefore ||
      openReviews(view)[0]?.reviewId !== openReviews(before)[0]?.reviewId ||
      event.type === 'run_cancelling' ||
      (this.#showing.usage && view.usage.tokens !== before.usage.tokens)
    if (!isUpdate) return
    yield { statusUpdate: { ...ids, status: toWireStatus(this.#identity, view), ...this.#usage() } }
  }

  /** Yields the other outputs of a task that ended without its own. */
  *#leftOver(
    view: TaskView,
    ids: Pick<ArtifactUpdate, 'taskId' | 'contextId'>,
  ): Generator<StreamItem> {
    for (const output of listOutputs(view)) {
      if (output.taskName === this.#sentOutput) continue
      const artifact = toArtifact(output, this.#showing.modes)
      yield { artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } }
    }
  }

  #usage(): { readonly metadata?: Readonly<Record<string, unknown>> } {
    if (!this.#showing.usage) return {}
    const metadata = toUsageMetadata(this.#view.usage, this.#reportedUsage)
    this.#reportedUsage = this.#view.usage
    return { metadata }
  }

  #artifactAfter(event: LoggedRunEvent, view: TaskView): Update | undefined {
    const { outputTask } = view.run
    switch (event.type) {
      case 'run_resumed':
      case 'run_forked':
        this.#isFresh = true
        return undefined
      case 'task_started':
      case 'llm_iteration_started':
        if (event.taskName === outputTask) this.#isFresh = true
        return undefined
      case 'token':
        return event.taskName === outputTask ? this.#textAfter(event) : undefined
      case 'task_completed':
        return event.taskName === outputTask ? this.#outputOf(event) : undefined
      default:
        return undefined
    }
  }

  #textAfter({ taskName, token }: RunEventOf<'token'>): Update | undefined {
    if (!acceptsMediaType(this.#showing.modes, 'text/plain')) return undefined
    const append = !this.#isFresh
    this.#written = append ? this.#written + token : token
    this.#isFresh = false
    const parts = [{ text: token }]
    return {
      artifact: { artifactId: taskName, name: taskName, parts },
      append,
      lastChunk: false,
    }
  }

  #outputOf(event: RunEventOf<'task_completed'>): Update {
    this.#sentOutput = event.taskName
    const artifact = toArtifact(event, this.#showing.modes)
    const isWritten = !this.#isFresh && this.#written === event.output
    if (!isWritten) return { artifact, append: false, lastChunk: true }
    // The text was sent in pieces; an artifact must have a part.
    const [, ...others] = artifact.parts
    const parts = others.length === 0 ? [{ text: '' }] : others
    return { artifact: { ...artifact, parts }, append: true, lastChunk: true }
  }
}

/** Options of a stream. */
export interface Following {
  readonly showing: Showing
  /** End of the stream: at the end of the task, or also at a question. */
  readonly until: 'terminal' | 'settled'
}

/** The items of one stream. */
export class TaskStream {
  readonly runId: string
  /** The first event that `after` expects. */
  readonly from: number
  readonly first: StreamItem
  readonly #updates: TaskUpdates
  readonly #until: Following['until']

  constructor({ identity, view }: LoadedTask, { showing, until }: Following) {
    this.runId = identity.id
    this.from = view.nextSeq
    this.first = { task: toWireTask(identity, view, showing) }
    this.#updates = new TaskUpdates(identity, view, showing)
    this.#until = until
  }

  /** Whether nothing follows a task in this state. */
  endsWith(state: A2aTaskState): boolean {
    return this.#until === 'terminal' ? isTerminal(state) : isSettled(state)
  }

  get isDone(): boolean {
    return this.endsWith(toTaskState(this.#updates.view))
  }

  /** Returns the items of a batch of events, up to the last item of the stream. */
  after(events: readonly LoggedRunEvent[]): readonly StreamItem[] {
    const items: StreamItem[] = []
    for (const event of events) {
      items.push(...this.#updates.after(event))
      if (this.isDone) break
    }
    return items
  }
}
