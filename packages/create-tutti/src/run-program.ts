/** Runs another program in a project. */
import { spawn } from 'node:child_process'

import type { CreateIo } from './create-io.ts'

/** How it ended: its exit code, or why there is none. */
export type ProgramEnd =
  | { readonly type: 'ended'; readonly code: number }
  | { readonly type: 'missing' }
  | { readonly type: 'stopped'; readonly signal: string }

/** Whether a person sees what it says. */
export type Audience = 'shown' | 'silent'

/** Runs `words` in `cwd`. A Ctrl-C reaches the program by its terminal, and ends it. */
export async function runProgram(
  [program, ...words]: readonly [program: string, ...words: string[]],
  cwd: string,
  { io, audience }: { readonly io: CreateIo; readonly audience: Audience },
): Promise<ProgramEnd> {
  const output = audience === 'shown' ? 'inherit' : 'ignore'
  const child = spawn(program, words, {
    cwd,
    env: io.variables,
    stdio: ['ignore', output, output],
    // There, npm is a script that only a shell can run. The words are our own.
    shell: process.platform === 'win32',
  })
  // So that this process outlives the program and can tell how it ended.
  const stay = (): void => undefined
  process.on('SIGINT', stay)
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', (error) => {
        if ('code' in error && error.code === 'ENOENT') resolve({ type: 'missing' })
        else reject(error)
      })
      child.on('close', (code, signal) => {
        if (signal === null) resolve({ type: 'ended', code: code ?? 1 })
        else resolve({ type: 'stopped', signal })
      })
    })
  } finally {
    process.off('SIGINT', stay)
  }
}
