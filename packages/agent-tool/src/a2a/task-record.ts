/**
 * What is known of one task of an agent, put together from what it says of it. Pure.
 *
 * T1 A snapshot counts for everything that came before it.
 * T2 An artifact that is sent again takes the place of the one before; `append` adds to its parts.
 */
import type {
  A2aArtifact,
  A2aArtifactUpdate,
  A2aMessage,
  A2aNews,
  A2aStatus,
  A2aTask,
} from './wire.ts'

/** States after which a task does nothing more. */
const ENDED = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** States in which a task waits for its caller. */
const WAITING = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']

/** A task as far as it is known. */
export class TaskRecord {
  #taskId: string | undefined
  #contextId: string | undefined
  #status: A2aStatus | undefined
  #reply: A2aMessage | undefined
  #artifacts: readonly A2aArtifact[] = []
  /** The status that the caller has acted upon, as JSON. */
  #stale: string | undefined

  constructor(known: { readonly taskId?: string; readonly contextId?: string } = {}) {
    this.#taskId = known.taskId
    this.#contextId = known.contextId
  }

  /** Identity of the task, as soon as the agent has said it. */
  get taskId(): string | undefined {
    return this.#taskId
  }

  /** Identity of what the task belongs to. */
  get contextId(): string | undefined {
    return this.#contextId
  }

  /** Where the task stands, as the agent said last. */
  get status(): A2aStatus | undefined {
    return this.#status
  }

  /** The answer of an agent that made no task of it. */
  get reply(): A2aMessage | undefined {
    return this.#reply
  }

  /** What was made so far, in order. */
  get artifacts(): readonly A2aArtifact[] {
    return this.#artifacts
  }

  /** Whether the task has ended, or there never was one. */
  get hasEnded(): boolean {
    return this.#reply !== undefined || ENDED.includes(this.#status?.state ?? '')
  }

  /** Whether nothing comes before the caller does something, if at all. */
  get isSettled(): boolean {
    if (this.hasEnded) return true
    const isWaiting = WAITING.includes(this.#status?.state ?? '')
    return isWaiting && JSON.stringify(this.#status) !== this.#stale
  }

  /** Says that the task is sent a message: that it waited for one counts no more, even when it is said again. */
  resume(): void {
    this.#stale = JSON.stringify(this.#status)
  }

  /** Says that the task has had its time to go on: where it stands is where it stands. */
  confirm(): void {
    this.#stale = undefined
  }

  /** Takes what has come. */
  apply({ task, message, statusUpdate, artifactUpdate }: A2aNews): void {
    if (message !== undefined) {
      this.#reply = message
      this.#identify(undefined, message.contextId)
    }
    if (task !== undefined) this.#replace(task)
    if (statusUpdate !== undefined) {
      this.#identify(statusUpdate.taskId, statusUpdate.contextId)
      this.#status = statusUpdate.status ?? this.#status
    }
    if (artifactUpdate !== undefined) {
      this.#identify(artifactUpdate.taskId, artifactUpdate.contextId)
      this.#artifacts = withArtifact(this.#artifacts, artifactUpdate)
    }
  }

  #replace(task: A2aTask): void {
    this.#identify(task.id, task.contextId)
    this.#artifacts = task.artifacts ?? []
    this.#status = task.status ?? this.#status
  }

  #identify(taskId: string | undefined, contextId: string | undefined): void {
    this.#taskId = taskId ?? this.#taskId
    this.#contextId = contextId ?? this.#contextId
  }
}

function withArtifact(
  artifacts: readonly A2aArtifact[],
  { artifact, append = false }: A2aArtifactUpdate,
): readonly A2aArtifact[] {
  if (artifact === undefined) return artifacts
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const before = artifacts[index]
  if (before === undefined) return [...artifacts, artifact]
  const parts = [...(before.parts ?? []), ...(artifact.parts ?? [])]
  return artifacts.with(index, append ? { ...before, parts } : artifact)
}
