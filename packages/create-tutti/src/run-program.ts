/** Runs another program in the folder of a project. */
import { spawn } from 'node:child_process'

import type { CreateIo } from './create-io.ts'

/** End of a program: its exit code, or the reason why there is none. */
export type ProgramEnd =
  | { readonly type: 'ended'; readonly code: number }
  | { readonly type: 'missing' }
  | { readonly type: 'stopped'; readonly signal: string }

/** Whether the output of the program is shown. */
export type Audience = 'shown' | 'silent'

/** Runs a command in `cwd`. The terminal sends Ctrl-C to the program, too, and ends it. */
export async function runProgram(
  [program, ...args]: readonly [program: string, ...args: string[]],
  cwd: string,
  { io, audience }: { readonly io: CreateIo; readonly audience: Audience },
): Promise<ProgramEnd> {
  const output = audience === 'shown' ? 'inherit' : 'ignore'
  const child = spawn(program, args, {
    cwd,
    env: io.variables,
    stdio: ['ignore', output, output],
    // On Windows, npm is a script that only a shell can run. The arguments are constants.
    shell: process.platform === 'win32',
  })
  // Without a listener, Ctrl-C would end this process before it can report the end of the program.
  const ignoreSignal = (): void => undefined
  process.on('SIGINT', ignoreSignal)
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
    process.off('SIGINT', ignoreSignal)
  }
}
