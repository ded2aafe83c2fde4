/**
 * Makes the updates of a task for one reader.
 *
 * U1 A change of the state, and of the question, is a status; a cancel that was asked for is one too.
 * U2 What the last task of the run gives is the artifact. Its text comes as it is written; where it is begun anew
 *    (another model turn, another attempt, another process) it takes the place of what came before.
 * U3 When the text of the last task is there already it is only closed; else it is sent again as a whole.
 * U4 What the other tasks give is told as a status while the task works, and as artifacts when it ends without the
 *    last.
 */
import { isTerminal, toOutput, viewAfter, type TaskView } from './task-view.ts'
import { outputsOf, progressOf, statusOf, takes, toArtifact, type Showing } from './to-task.ts'
import { usageMetadata, type Usage } from './usage.ts'

import type { ArtifactUpdate, StreamItem } from './a2a-wire.ts'
import type { LoadedTask } from './load-task.ts'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

type Update = Omit<ArtifactUpdate, 'taskId' | 'contextId' | 'metadata'>

/** Makes the updates of one stream, out of the events of the run in order. */
export class TaskUpdates {
  readonly #facts: LoadedTask['facts']
  readonly #showing: Showing
  #view: TaskView
  /** What the caller was told of last. */
  #toldUsage: Usage
  /** The text of the artifact that is being written, as the caller has it. */
  #written = ''
  #isFresh = true

  constructor(facts: LoadedTask['facts'], first: TaskView, showing: Showing) {
    this.#facts = facts
    this.#showing = showing
    this.#view = first
    this.#toldUsage = first.usage
  }

  get view(): TaskView {
    return this.#view
  }

  /** What one more event changes for the caller. */
  *after(event: LoggedRunEvent): Generator<StreamItem> {
    const before = this.#view
    const view = viewAfter(before, event)
    this.#view = view
    const ids = { taskId: this.#facts.id, contextId: this.#facts.contextId }
    const artifact = this.#artifactAfter(event, view)
    if (artifact !== undefined) {
      yield { artifactUpdate: { ...ids, ...artifact, ...this.#usage() } }
      return
    }
    if (event.type === 'task_completed') {
      const status = progressOf(this.#facts, view, toOutput(event))
      yield { statusUpdate: { ...ids, status, ...this.#usage() } }
      return
    }
    if (isTerminal(view) && !isTerminal(before)) yield* this.#leftOver(view, ids)
    const isNews =
      view.state !== before.state ||
      view.gates[0]?.reviewId !== before.gates[0]?.reviewId ||
      event.type === 'run_cancelling' ||
      (this.#showing.usage && view.usage.tokens !== before.usage.tokens)
    if (!isNews) return
    yield { statusUpdate: { ...ids, status: statusOf(this.#facts, view), ...this.#usage() } }
  }

  /** What a task that ended without its output has in place of it. */
  *#leftOver(
    view: TaskView,
    ids: Pick<ArtifactUpdate, 'taskId' | 'contextId'>,
  ): Generator<StreamItem> {
    for (const output of outputsOf(view)) {
      if (output.taskName === view.finalTask) continue
      const artifact = toArtifact(output, this.#showing.modes)
      yield { artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } }
    }
  }

  #usage(): { readonly metadata?: Readonly<Record<string, unknown>> } {
    if (!this.#showing.usage) return {}
    const metadata = usageMetadata(this.#view.usage, this.#toldUsage)
    this.#toldUsage = this.#view.usage
    return { metadata }
  }

  #artifactAfter(event: LoggedRunEvent, { finalTask }: TaskView): Update | undefined {
    switch (event.type) {
      case 'run_resumed':
        this.#isFresh = true
        return undefined
      case 'task_started':
      case 'llm_iteration_started':
        if (event.taskName === finalTask) this.#isFresh = true
        return undefined
      case 'token':
        return event.taskName === finalTask ? this.#textAfter(event) : undefined
      case 'task_completed':
        return event.taskName === finalTask ? this.#outputOf(event) : undefined
      default:
        return undefined
    }
  }

  #textAfter({ taskName, token }: RunEventOf<'token'>): Update | undefined {
    if (!takes(this.#showing.modes, 'text/plain')) return undefined
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
    const artifact = toArtifact(toOutput(event), this.#showing.modes)
    const isWritten = !this.#isFresh && this.#written === event.output
    if (!isWritten) return { artifact, append: false, lastChunk: true }
    // The text is there already, in pieces; an artifact must have a part.
    const [, ...others] = artifact.parts
    const parts = others.length === 0 ? [{ text: '' }] : others
    return { artifact: { ...artifact, parts }, append: true, lastChunk: true }
  }
}
