/**
 * The state of one task of an agent, assembled from what it sends. No I/O.
 *
 * AGENT-AT1 A snapshot replaces everything that came before it.
 * AGENT-AT2 An artifact that is sent again replaces the earlier one; with `append` its parts are added.
 */
import type {
  A2aArtifact,
  A2aArtifactUpdate,
  A2aMessage,
  A2aStreamItem,
  A2aStatus,
  AgentTask,
} from './wire.ts'

/** Final states. */
const ENDED = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** States in which a task waits for its caller. */
const WAITING = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']

/** The known state of a task. */
export class AgentTaskState {
  #taskId: string | undefined
  #contextId: string | undefined
  #status: A2aStatus | undefined
  #reply: A2aMessage | undefined
  #artifacts: readonly A2aArtifact[] = []
  /** The status to which the caller has responded, as JSON. */
  #stale: string | undefined

  constructor(known: { readonly taskId?: string; readonly contextId?: string } = {}) {
    this.#taskId = known.taskId
    this.#contextId = known.contextId
  }

  /** Id of the task, once the agent has sent it. */
  get taskId(): string | undefined {
    return this.#taskId
  }

  /** Id of the conversation that the task belongs to. */
  get contextId(): string | undefined {
    return this.#contextId
  }

  /** The latest status. */
  get status(): A2aStatus | undefined {
    return this.#status
  }

  /** The answer of an agent that created no task. */
  get reply(): A2aMessage | undefined {
    return this.#reply
  }

  /** The artifacts so far, in order. */
  get artifacts(): readonly A2aArtifact[] {
    return this.#artifacts
  }

  /** Whether the task has ended, or the agent created none. */
  get hasEnded(): boolean {
    return this.#reply !== undefined || ENDED.includes(this.#status?.state ?? '')
  }

  /** Whether the task has ended or waits for its caller. */
  get isSettled(): boolean {
    if (this.hasEnded) return true
    const isWaiting = WAITING.includes(this.#status?.state ?? '')
    return isWaiting && JSON.stringify(this.#status) !== this.#stale
  }

  /** Marks that a message is sent to the task, so that the status in which it waited no longer settles it. */
  resume(): void {
    this.#stale = JSON.stringify(this.#status)
  }

  /** Marks that the task had time to continue, so that its status counts again. */
  confirm(): void {
    this.#stale = undefined
  }

  /** Applies an object that arrived. */
  apply({ task, message, statusUpdate, artifactUpdate }: A2aStreamItem): void {
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

  #replace(task: AgentTask): void {
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
