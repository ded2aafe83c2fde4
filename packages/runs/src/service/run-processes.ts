/** The processes that share a store, by the ids under which they have leases. */
export interface RunProcesses {
  /** Id of this process. */
  readonly own: string
  /** Whether a process has a lease that has not ended; always false if the store is not shared. */
  readonly hasLease: (id: string) => Promise<boolean>
  /** Decides at random whether this process does a repeated task that `enough` processes on the store suffice for. */
  readonly takesTurn: (enough: number) => boolean
}
