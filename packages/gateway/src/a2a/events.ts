/**
 * No I/O: maps the events of a run to the updates of its task for one reader.
 *
 * GW-U1 A change of the state or the question is a status update, and so is the request of a cancel.
 * GW-U2 The output of the run's last task is the artifact. Its text is sent as the model writes it. When it begins
 *    again (in another model turn, attempt or process), it replaces the earlier text.
 * GW-U3 If the text of the last task has been sent, the output only closes it; otherwise the whole output is sent.
 * GW-U4 Outputs of the other tasks are status updates while the task works, and artifacts when it ends without the last
 *    one. Of many tasks that one task has added, updates have counts instead, and their usage (GW-GP1). A handoff is a status
 *    update that names the next agent.
 * GW-U5 A stream begins with the task and has every later change in order, each once. A subscription ends when the task
 *    ends, the stream of a message also at a question.
 */
import { RunProjection } from '@tutti/protocol'

import { formatCounts, type GroupNote } from '../runs/group-progress.ts'
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
import { isSettled, isTerminal, toTaskState, type TaskView } from './view.ts'

import type { A2aTaskState, A2aTaskStatus, ArtifactUpdate, StreamItem } from './wire.ts'
import type { LoadedTask } from './load-task.ts'
import type { LoggedRunEvent, RunOperation } from '@tutti/protocol'
import type { RunUsage, TaskOperation, TaskOutput } from '@tutti/protocol/internal'

type Update = Omit<ArtifactUpdate, 'taskId' | 'contextId' | 'metadata'>

/** State and question of a task. */
interface TaskStatus {
  readonly state: A2aTaskState
  /** Id of the review that is the question. */
  readonly question: string | undefined
}

/** Makes the updates of one stream from the events of the run, in order. */
export class TaskUpdates {
  readonly #identity: LoadedTask['identity']
  readonly #showing: Showing
  readonly #run: RunProjection
  readonly #view: TaskView
  /** Usage in the previous update. */
  #reportedUsage: RunUsage
  /** Text of the current artifact that the caller has received. */
  #written = ''
  #isFresh = true
  /** Name of the task whose output has been sent as the artifact. */
  #sentOutput: string | undefined

  /** The view takes the events of this stream. */
  constructor(identity: LoadedTask['identity'], view: TaskView, showing: Showing) {
    this.#identity = identity
    this.#showing = showing
    const { delegations } = view.history
    this.#run = new RunProjection({ outputTask: view.facts.outputTask, delegations })
    this.#view = view
    this.#reportedUsage = view.usage
    this.#sentOutput = view.output?.taskName
  }

  get view(): TaskView {
    return this.#view
  }

  /** Yields the updates of the next event. */
  *after(event: LoggedRunEvent): Generator<StreamItem> {
    const before = this.#readStatus()
    const group = this.#view.take(event)
    const items = this.#run
      .take(event)
      .flatMap((operation) => this.#translate(operation, group) ?? [])
    if (items.length > 0) yield* items
    else yield* this.#changeAfter(event, before, group !== undefined)
  }

  #readStatus(): TaskStatus {
    return { state: toTaskState(this.#view), question: this.#view.question?.reviewId }
  }

  /** Yields the update of an event that changes the state, the question or the active agent. */
  *#changeAfter(
    event: LoggedRunEvent,
    before: TaskStatus,
    isCounted: boolean,
  ): Generator<StreamItem> {
    if (event.type === 'delegation_started' && event.handoff !== undefined) {
      const said = { taskName: event.taskName, output: `Handed off to ${event.workerRole}` }
      yield this.#toStatusUpdate(toProgressStatus(this.#identity, this.#view, said))
      return
    }
    const { state, question } = this.#readStatus()
    if (isTerminal(state) && !isTerminal(before.state)) yield* this.#leftOver()
    const isUsed =
      this.#showing.usage && !isCounted && this.#view.usage.tokens !== this.#reportedUsage.tokens
    const isUpdate =
      state !== before.state ||
      question !== before.question ||
      event.type === 'run_cancelling' ||
      isUsed
    if (isUpdate) yield this.#toStatusUpdate(toWireStatus(this.#identity, this.#view))
  }

  /** Yields the other outputs of a task that ended without its own. */
  *#leftOver(): Generator<StreamItem> {
    for (const output of listOutputs(this.#view)) {
      if (output.taskName === this.#sentOutput) continue
      const artifact = toArtifact(output, this.#showing.modes)
      yield { artifactUpdate: { ...this.#ids, artifact, append: false, lastChunk: true } }
    }
  }

  get #ids(): Pick<ArtifactUpdate, 'taskId' | 'contextId'> {
    return { taskId: this.#identity.id, contextId: this.#identity.contextId }
  }

  #toStatusUpdate(status: A2aTaskStatus): StreamItem {
    return { statusUpdate: { ...this.#ids, status, ...this.#usage() } }
  }

  #usage(): { readonly metadata?: Readonly<Record<string, unknown>> } {
    if (!this.#showing.usage) return {}
    const metadata = toUsageMetadata(this.#view.usage, this.#reportedUsage)
    this.#reportedUsage = this.#view.usage
    return { metadata }
  }

  #translate(operation: RunOperation, group: GroupNote | undefined): StreamItem | undefined {
    switch (operation.type) {
      case 'turn_started':
      case 'withdrawn':
        this.#isFresh = true
        return undefined
      case 'block_grown':
        return operation.block.kind === 'text' ? this.#write(operation.delta) : undefined
      case 'task':
        return operation.result === undefined
          ? undefined
          : this.#complete(
              operation,
              group === undefined || operation.isOutput ? operation.result : toGroupOutput(group),
            )
      default:
        return undefined
    }
  }

  #write(text: string): StreamItem | undefined {
    const { outputTask: name } = this.#run
    if (name === undefined || !acceptsMediaType(this.#showing.modes, 'text/plain')) return undefined
    const append = !this.#isFresh
    this.#written = append ? this.#written + text : text
    this.#isFresh = false
    const artifact = { artifactId: name, name, parts: [{ text }] }
    return this.#toArtifactUpdate({ artifact, append, lastChunk: false })
  }

  #complete(
    { name, isOutput }: TaskOperation,
    result: TaskOutput | undefined,
  ): StreamItem | undefined {
    if (result === undefined || this.#view.isReceiver(name)) return undefined
    if (!isOutput) return this.#toStatusUpdate(toProgressStatus(this.#identity, this.#view, result))
    this.#sentOutput = result.taskName
    const artifact = toArtifact(result, this.#showing.modes)
    const isWritten = !this.#isFresh && this.#written === result.output
    if (!isWritten) return this.#toArtifactUpdate({ artifact, append: false, lastChunk: true })
    // The text was sent in pieces; an artifact must have a part.
    const [, ...others] = artifact.parts
    const parts = others.length === 0 ? [{ text: '' }] : others
    return this.#toArtifactUpdate({
      artifact: { ...artifact, parts },
      append: true,
      lastChunk: true,
    })
  }

  #toArtifactUpdate(update: Update): StreamItem {
    return { artifactUpdate: { ...this.#ids, ...update, ...this.#usage() } }
  }
}

/** Returns the counts of a group as the output of a task; undefined when none are due. */
function toGroupOutput({ counts }: GroupNote): TaskOutput | undefined {
  return counts && { taskName: `${counts.parent}/*`, output: formatCounts(counts) }
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
