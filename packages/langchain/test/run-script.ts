/** Runs a program in a Node of its own, to see what only a fresh process shows. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

const NODE_OPTIONS = ['--conditions=@tutti/source', '--disable-warning=ExperimentalWarning']

type Environment = Readonly<Record<string, string>>

/** Runs the module `source` with no environment but `env`; resolves with the JSON it prints. */
export async function runScript(source: string, env: Environment = {}): Promise<unknown> {
  const output = await runProgram(['--input-type=module', '--eval', source], env)
  return JSON.parse(output)
}

/**
 * Runs Node with `arguments_` and no environment but `env`; resolves with what it prints. A program that
 * fails, or has anything to say on stderr, rejects.
 */
export function runProgram(arguments_: readonly string[], env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...NODE_OPTIONS, ...arguments_],
      { cwd: PACKAGE, env: { ...env } },
      (error, stdout, stderr) => {
        if (error !== null || stderr !== '') reject(new Error(`The program failed: ${stderr}`))
        else resolve(stdout)
      },
    )
  })
}
