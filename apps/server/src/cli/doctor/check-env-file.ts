/** Says what the `.env` of a project sets: the names, never the values. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { findingsOf, type Finding } from './finding.ts'

/** Looks into the file, when there is one. @throws {Error} when it cannot be read. */
export function checkEnvFile(path: string): readonly Finding[] {
  if (!existsSync(path)) return []
  const { ok } = findingsOf('.env')
  const names = Object.keys(parseEnv(readFileSync(path, 'utf8')))
  const list = names.length === 0 ? 'nothing' : names.join(', ')
  return [ok(`It sets ${list}; "tutti dev" and this command read it, "tutti start" does not`)]
}
