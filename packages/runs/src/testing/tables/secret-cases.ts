/** Cases of RUNS-Y1: secrets that processes share. */
import { match, notStrictEqual, strictEqual } from 'node:assert/strict'

import { ODD_TEXT } from '../support/event-fixtures.ts'
import { at, openStorages } from '../support/open-storages.ts'

import type { SharedStorageCase, StorageCase } from '../support/storage-case.ts'

export const secretCases: readonly StorageCase[] = [
  {
    name: '[RUNS-Y1] A secret has 256 random bits and differs for each name',
    async run({ storage }) {
      const secret = await storage.secrets.get('tickets')
      match(secret, /^[\w-]{43}$/)
      strictEqual(await storage.secrets.get('tickets'), secret)
      notStrictEqual(await storage.secrets.get('other'), secret)
      strictEqual(await storage.secrets.get(ODD_TEXT), await storage.secrets.get(ODD_TEXT))
    },
  },
]

/** The cases that a shared storage also passes. */
export const sharedSecretCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-Y1] Processes that request a new secret concurrently get the same one',
    async run(given) {
      const all = await openStorages(given, 4)
      const secrets = await Promise.all(
        Array.from({ length: 12 }, (_, n) => at(all, n).secrets.get('tickets')),
      )
      strictEqual(new Set(secrets).size, 1)
    },
  },
]
