/**
 * Makes the updates of a task for one reader.
 *
 * U1 A change of the state, and of the question, is a status; a cancel that was asked for is one too.
 * U2 What a task of the run has given is an artifact. Of the last one the text comes as it is written; where it is
 *    begun anew (another model turn, another attempt, another process) it takes the place of what came before.
 * U3 When the text of the last task is there already it is only closed; else it is sent again as a whole.
 */
import { viewAfter, type TaskView } from './task-view.ts'
import { statusOf, takes, toArtifact, type Showing } from './to-task.ts'
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
    const isNews =
      view.state !== before.state ||
      view.gates[0]?.reviewId !== before.gates[0]?.reviewId ||
      event.type === 'run_cancelling' ||
      (this.#showing.usage && view.usage.tokens !== before.usage.tokens)
    if (!isNews) return
    yield { statusUpdate: { ...ids, status: statusOf(this.#facts, view), ...this.#usage() } }
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
        return this.#outputOf(event, finalTask)
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

  #outputOf(
    { taskName, output: text, structuredOutput: value }: RunEventOf<'task_completed'>,
    finalTask: string | undefined,
  ): Update {
    const output = { taskName, text, ...(value === undefined ? {} : { value }) }
    const artifact = toArtifact(output, this.#showing.modes)
    const isWritten = taskName === finalTask && !this.#isFresh && this.#written === text
    if (!isWritten) return { artifact, append: false, lastChunk: true }
    // The text is there already, in pieces; an artifact must have a part.
    const [, ...others] = artifact.parts
    const parts = others.length === 0 ? [{ text: '' }] : others
    return { artifact: { ...artifact, parts }, append: true, lastChunk: true }
  }
}
