/** A storage of which only those parts work that a test gives. */
import type {
  AuditLog,
  ClaimedRun,
  ClaimRequest,
  StoredEventLog,
  StoreNotification,
  RunQueue,
  CommandQueue,
  RunStorage,
  RunStore,
  SecretStore,
  WebhookOutbox,
} from '@tutti/runs'
import type { MemoryStore, ReflectionStore } from '@tutti/ensemble'

/** What a test gives. */
export interface FakeParts {
  readonly runs?: Partial<RunStore>
  readonly queue?: Partial<RunQueue>
  readonly commands?: Partial<CommandQueue>
  readonly events?: Partial<StoredEventLog>
  readonly isShared?: boolean
}

/** A storage that can be made unavailable. */
export interface FakeStorage extends RunStorage {
  isAvailable: boolean
}

/** Makes a storage of some parts, whose runs have no steps; using another one throws. */
export function fakeStorage({
  runs = {},
  queue = {},
  commands = {},
  events = {},
  isShared = true,
}: FakeParts): FakeStorage {
  return {
    // NOTE: what a test does not give, its subject does not use.
    runs: { steps: () => Promise.resolve([]), ...runs } as Partial<RunStore> as RunStore,
    queue: queue as RunQueue,
    commands: commands as CommandQueue,
    events: events as StoredEventLog,
    outbox: {} as WebhookOutbox,
    audit: {} as AuditLog,
    secrets: {} as SecretStore,
    memories: {} as MemoryStore,
    reflections: {} as ReflectionStore,
    isShared,
    isAvailable: true,
    listen: (_listener: (notification: StoreNotification) => void) => () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** A queue of runs that wait; each claim takes a turn that a test can hold. */
export class FakeQueue implements Pick<
  RunQueue,
  'claimNext' | 'claim' | 'renew' | 'markWaiting' | 'release'
> {
  /** Runs that wait, the next one first. */
  readonly waiting: ClaimedRun[]
  /** How many were wanted, each time. */
  readonly wanted: number[] = []
  /** What was asked of it, but for claims: `release run-a ready`. */
  readonly asked: string[] = []
  /** Awaited after runs were taken out of the queue and before the caller is told. */
  beforeAnswer: (() => Promise<void>) | undefined
  /** What a renewal finds; by default it fails. */
  held: (() => ReturnType<RunQueue['renew']>) | undefined

  constructor(waiting: readonly ClaimedRun[] = []) {
    this.waiting = [...waiting]
  }

  async claimNext({ wanted }: ClaimRequest): Promise<readonly ClaimedRun[]> {
    this.wanted.push(wanted)
    const claims = this.waiting.splice(0, wanted)
    await this.beforeAnswer?.()
    return claims
  }

  async claim(runId: string): Promise<ClaimedRun | undefined> {
    const at = this.waiting.findIndex(({ run }) => run.runId === runId)
    const [claim] = at === -1 ? [] : this.waiting.splice(at, 1)
    return claim
  }

  async renew(): ReturnType<RunQueue['renew']> {
    this.asked.push('renew')
    if (this.held === undefined) throw new Error('no connection')
    return this.held()
  }

  markWaiting: RunQueue['markWaiting'] = async () => true

  release: RunQueue['release'] = async ({ runId }, { kind }) => {
    this.asked.push(`release ${runId} ${kind}`)
    return kind
  }
}
