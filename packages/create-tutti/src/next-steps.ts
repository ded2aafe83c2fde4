/** Pure: formats the next steps with a new project. */
import { relative } from 'node:path'

import { translateCommands } from './package-manager.ts'

import type { ProjectPlan } from './plan.ts'

/** Returns the next steps, one per line. */
export function formatNextSteps(
  plan: ProjectPlan,
  at: { readonly cwd: string; readonly installed: boolean },
) {
  const folder = relative(at.cwd, plan.folder)
  const steps: readonly (readonly [command: string, effect: string])[] = [
    ...(folder === '' ? [] : [[`cd ${quoteForShell(folder)}`, ''] as const]),
    ...(at.installed ? [] : [['npm install', ''] as const]),
    ['npm run dev', 'starts the server, with a dashboard at http://127.0.0.1:7329'],
    ['npm run run', 'starts a run, in another terminal'],
    ['npm test', 'runs the tests, which need no server'],
  ]
  const commands = steps.map(([command, effect]) => [
    translateCommands(plan.packageManager, command),
    effect,
  ])
  const width = Math.max(...commands.map(([command = '']) => command.length))
  return commands
    .map(([command = '', effect = '']) => `${command.padEnd(width)}  ${effect}`.trimEnd())
    .join('\n')
}

/** Hint about keys. */
export const NO_KEY_NEEDED =
  'No key is needed. To use a real model, copy .env.example to .env and set a key. See README.md.'

function quoteForShell(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `"${path}"`
}
