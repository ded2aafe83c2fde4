import type { RunStorage, RunStore } from '@tutti/runs/adapter'

/** Returns `storage` with some methods of its run store replaced. */
export function storageOver(
  storage: RunStorage,
  changed: Partial<RunStore>,
): { -readonly [K in keyof RunStorage]: RunStorage[K] } {
  const { runs } = storage
  return {
    runs: {
      create: (...given) => runs.create(...given),
      commit: (writes) => runs.commit(writes),
      commitUnowned: (write) => runs.commitUnowned(write),
      get: (runId) => runs.get(runId),
      tasks: (runId) => runs.tasks(runId),
      steps: (runId, query) => runs.steps(runId, query),
      list: (query) => runs.list(query),
      listByChange: (query) => runs.listByChange(query),
      reviews: (query) => runs.reviews(query),
      countReviews: (query) => runs.countReviews(query),
      deleteEnded: (which) => runs.deleteEnded(which),
      deleteSteps: (which) => runs.deleteSteps(which),
      delete: (runId) => runs.delete(runId),
      ...changed,
    },
    threads: storage.threads,
    queue: storage.queue,
    dispatcher: storage.dispatcher,
    commands: storage.commands,
    events: storage.events,
    outbox: storage.outbox,
    audit: storage.audit,
    builds: storage.builds,
    secrets: storage.secrets,
    externalEvents: storage.externalEvents,
    schedules: storage.schedules,
    memories: storage.memories,
    reflections: storage.reflections,
    processName: storage.processName,
    isShared: storage.isShared,
    clock: storage.clock,
    get isAvailable() {
      return storage.isAvailable
    },
    listen: (listener) => storage.listen(listener),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  }
}
