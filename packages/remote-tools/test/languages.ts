/** The languages on this machine that programs of tests are written in. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** An interpreter, and the program that does what its input says. */
export interface Language {
  readonly name: string
  /** Path of the interpreter; undefined when this machine has none. */
  readonly command: string | undefined
  readonly program: string
}

/** All of them; a test skips those that are not here. Node always is. */
export const LANGUAGES: readonly Language[] = [
  { name: 'node', command: process.execPath, program: programPath('protocol.mjs') },
  {
    name: 'python',
    command: pathBy('python3', ['-c', 'import sys; print(sys.executable)']),
    program: programPath('protocol.py'),
  },
  {
    name: 'perl',
    command: pathBy('perl', ['-MJSON::PP', '-e', 'print $^X']),
    program: programPath('protocol.pl'),
  },
  {
    name: 'sh',
    command: pathBy('sh', ['-c', 'command -v sh']),
    program: programPath('protocol.sh'),
  },
]

/** The interpreter of a language, if this machine has it. */
export function interpreterOf(name: string): string | undefined {
  return LANGUAGES.find((language) => language.name === name)?.command
}

/** Path of a program of the tests. */
export function programPath(file: string): string {
  return fileURLToPath(new URL(`programs/${file}`, import.meta.url))
}

/** What an interpreter says its path is, so that tests do not pay for wrappers such as pyenv's. */
function pathBy(command: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, words, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
