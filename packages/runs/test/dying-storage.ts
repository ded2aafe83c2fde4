/** Storages whose processes die at a chosen commit. */
import type { RunStorage } from '@tutti/runs/adapter'

import { storageOver } from './storage-over.ts'

/** The moment at which a process dies: just before its commit of that number, or just after it without a reply. */
export interface Death {
  readonly commit: number
  readonly when: 'before' | 'after'
}

/** A storage whose process dies, and a promise of its death. */
export function dyingStorage(
  storage: RunStorage,
  { commit: last, when }: Death,
): { readonly storage: RunStorage; readonly died: Promise<'died'> } {
  const died = Promise.withResolvers<'died'>()
  const never = new Promise<never>(() => undefined)
  let commits = 0
  const dying = storageOver(storage, {
    async commit(writes) {
      commits += 1
      if (commits === last && when === 'after') await storage.runs.commit(writes)
      if (commits < last) return storage.runs.commit(writes)
      died.resolve('died')
      return never
    },
  })
  return { storage: dying, died: died.promise }
}
