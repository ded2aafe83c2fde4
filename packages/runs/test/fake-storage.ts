/** A storage in which only the parts that a test provides work. */
import { storeDispatcher } from '@tutti/runs/adapter'

import { steadyClock } from '../src/domain/steady-clock.ts'

import type {
  AuditLog,
  BuildStore,
  ClaimedRun,
  ClaimRequest,
  Dispatcher,
  StoredEventLog,
  StoreNotification,
  RenewalRequest,
  RunQueue,
  CommandQueue,
  RunStorage,
  RunStore,
  ExternalEventStore,
  ScheduleStore,
  SecretStore,
  ThreadStore,
  WebhookOutbox,
} from '@tutti/runs/adapter'
import type { MemoryStore, ReflectionStore } from '@tutti/ensemble/adapter'

/** The parts that a test provides. */
export interface FakeParts {
  readonly runs?: Partial<RunStore>
  readonly queue?: Partial<RunQueue & Pick<Dispatcher, 'take'>>
  readonly commands?: Partial<CommandQueue>
  readonly events?: Partial<StoredEventLog>
  readonly isShared?: boolean
}

/** A storage that can be made unavailable. */
export interface FakeStorage extends RunStorage {
  isAvailable: boolean
}

/** Creates a storage of some parts, whose runs have no steps. The other parts throw. */
export function fakeStorage({
  runs = {},
  queue = {},
  commands = {},
  events = {},
  isShared = true,
}: FakeParts): FakeStorage {
  return {
    // NOTE: the subject only uses the parts that its test provides.
    runs: { steps: () => Promise.resolve([]), ...runs } as Partial<RunStore> as RunStore,
    threads: {} as ThreadStore,
    queue: queue as RunQueue,
    dispatcher: storeDispatcher(async (request) => (await queue.take?.(request)) ?? []),
    commands: commands as CommandQueue,
    events: events as StoredEventLog,
    outbox: {} as WebhookOutbox,
    audit: {} as AuditLog,
    builds: {} as BuildStore,
    secrets: {} as SecretStore,
    externalEvents: {} as ExternalEventStore,
    schedules: {
      findDue: () => Promise.resolve({ schedules: [], nextInMs: Infinity, now: 0 }),
    } as Partial<ScheduleStore> as ScheduleStore,
    memories: {} as MemoryStore,
    reflections: {} as ReflectionStore,
    processName: 'fake',
    isShared,
    clock: steadyClock,
    isAvailable: true,
    listen: (_listener: (notification: StoreNotification) => void) => () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** A queue of waiting runs. A test can delay each claim. */
export class FakeQueue implements Pick<
  RunQueue & Dispatcher,
  'take' | 'claim' | 'renew' | 'markWaiting' | 'release' | 'excuse' | 'fleet' | 'hasStranded'
> {
  fleet = { processes: 1, pollers: 1 }
  hasStranded = false
  /** Waiting runs, the next one first. */
  readonly waiting: ClaimedRun[]
  /** The wanted number of each claim. */
  readonly wanted: number[] = []
  /** The calls other than claims, such as `release run-a ready`. */
  readonly asked: string[] = []
  /** The requests of all renewals. */
  readonly renewals: RenewalRequest[] = []
  /** Awaited after runs were claimed and before the claim resolves. */
  beforeAnswer: (() => Promise<void>) | undefined
  /** The result of a renewal. @default it fails */
  held: (() => ReturnType<RunQueue['renew']>) | undefined

  constructor(waiting: readonly ClaimedRun[] = []) {
    this.waiting = [...waiting]
  }

  async take({ wanted }: ClaimRequest): Promise<readonly ClaimedRun[]> {
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

  async renew(request: RenewalRequest): ReturnType<RunQueue['renew']> {
    this.asked.push('renew')
    this.renewals.push(request)
    if (this.held === undefined) throw new Error('no connection')
    return this.held()
  }

  markWaiting: RunQueue['markWaiting'] = async () => true

  release: RunQueue['release'] = async ({ runId }, { kind }) => {
    this.asked.push(`release ${runId} ${kind}`)
    return kind
  }

  excuse: RunQueue['excuse'] = async (lost) => {
    this.asked.push(`excuse ${lost.map(({ runId, epoch }) => `${runId}@${epoch}`).join(' ')}`)
  }
}
