/** Pure: what to do with a new project, as text. */
import { relative } from 'node:path'

import { inWordsOf } from './package-manager.ts'

import type { ProjectPlan } from './plan.ts'

/** What a person does next, one step a line. */
export function nextSteps(
  plan: ProjectPlan,
  at: { readonly cwd: string; readonly installed: boolean },
) {
  const folder = relative(at.cwd, plan.folder)
  const steps: readonly (readonly [command: string, why: string])[] = [
    ...(folder === '' ? [] : [[`cd ${quoted(folder)}`, ''] as const]),
    ...(at.installed ? [] : [['npm install', ''] as const]),
    ['npm run dev', 'the server, with a dashboard at http://127.0.0.1:7329'],
    ['npm run run', 'a run, in another terminal'],
    ['npm test', 'the tests, which need neither'],
  ]
  const commands = steps.map(([command, why]) => [inWordsOf(plan.packageManager, command), why])
  const width = Math.max(...commands.map(([command = '']) => command.length))
  return commands
    .map(([command = '', why = '']) => `${command.padEnd(width)}  ${why}`.trimEnd())
    .join('\n')
}

/** What a new reader should know. */
export const NO_KEY_NEEDED =
  'No key is needed. For a real model copy .env.example to .env and set a key; README.md says the rest.'

function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `"${path}"`
}
